"""What the run ran on: processor, load, and how busy others kept it meanwhile."""
import os
import platform
import subprocess


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def busy_seconds():
    """CPU seconds that all processes have used since the machine started; None if it does not say."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            fields = [int(field) for field in file.readline().split()[1:]]
    except (OSError, ValueError):
        return None
    user, nice, system, _, _, irq, softirq, steal = (fields + [0] * 8)[:8]
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds(partners):
    """CPU seconds of the runner, its ended children and the given living ones."""
    return sum(os.times()[:4]) + sum(partner.cpu_seconds() for partner in partners)


def liblinear_version():
    found = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "liblinear-tools"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return found.stdout.strip() or None
