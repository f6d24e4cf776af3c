"""One comparison = one line of the table; and the alternation of runs that makes it fair."""
from dataclasses import dataclass, field

from stats import holds, mark, median, spread, sum_of_calls


@dataclass
class Sample:
    """The repeats of one contestant."""
    label: str
    wall: list = field(default_factory=list)
    cpu: list = field(default_factory=list)
    answers: list = field(default_factory=list)

    def add(self, answer):
        self.wall.append(answer["wall"])
        self.cpu.append(answer["cpu"])
        self.answers.append(answer)

    @property
    def last(self):
        return self.answers[-1]

    def scaled(self, label, keys, factor=1.0):
        """The same repeats by other members of their answers, such as the time of an iteration."""
        return Sample(label, [a[keys[0]] * factor for a in self.answers],
                      [a[keys[1]] * factor for a in self.answers], self.answers)

    def as_json(self):
        return {"label": self.label, "wall": self.wall, "cpu": self.cpu,
                "wall_median": median(self.wall), "cpu_median": median(self.cpu),
                "wall_spread": spread(self.wall)}


@dataclass
class Comparison:
    """measured is what is demanded: times faster, times the limit, an exponent, a share."""
    group: str
    what: str
    ours: Sample = None
    other: Sample = None
    unit: str = ""  # of measured: "x faster", "x limit", ...
    measured: float = None
    measured_cpu: float = None  # the same from CPU seconds
    required: tuple = None
    mark: str = ""
    note: str = ""
    point: tuple = None  # (curve, size): where ours stands in the figure of growth

    def as_json(self):
        return {"group": self.group, "what": self.what, "unit": self.unit,
                "ours": self.ours and self.ours.as_json(),
                "other": self.other and self.other.as_json(),
                "measured": self.measured, "measured_cpu": self.measured_cpu,
                "required": self.required and list(self.required), "mark": self.mark,
                "note": self.note, "point": self.point and list(self.point)}


def alternate(repeats, contestants, warm=True):
    """Run A B C A B C ..; contestants: [(label, call)]. Warm: one round that is not counted."""
    samples = [Sample(label) for label, _ in contestants]
    for round_number in range(-1 if warm else 0, repeats):
        for sample, (_, call) in zip(samples, contestants):
            answer = call()
            if round_number >= 0:
                sample.add(answer)
    return samples


def faster(group, what, ours, other, at_least=None, note="", also=()):
    """How many times the other's time ours is. also: outcomes of alternative demands."""
    required = at_least and ("at least", at_least)
    ratio = median(other.wall) / median(ours.wall)
    return Comparison(group, what, ours, other, "x faster", ratio,
                      median(other.cpu) / median(ours.cpu), required,
                      mark([holds(required, ratio), *also]) if required else "", note)


def against_limit(group, what, ours, limit, at_most=None, note=""):
    required = at_most and ("at most", at_most)
    ratio = median(ours.wall) / median(limit.wall)
    return Comparison(group, what, ours, limit, "x limit", ratio,
                      median(ours.cpu) / median(limit.cpu), required,
                      mark([holds(required, ratio)]), note)


def limit_contestant(driver, terms, label="limit"):
    """A contestant that times every call of the limit once per round; its answer says which of
    the alternatives were taken."""
    calls = ",".join(sorted({call for _, choice in terms for call in choice}))

    def run():
        answer = driver("limit", calls=calls)
        wall, taken = sum_of_calls(terms, {call: answer[call]["wall"] for call in calls.split(",")})
        by_cpu = sum(count * answer[call]["cpu"] for (count, _), call in zip(terms, taken))
        return {"wall": wall, "cpu": by_cpu, "taken": taken, "calls": answer}

    return label, run
