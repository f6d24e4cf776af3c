"""A page in headless Chromium: what it looks like to its own script.

The page is copied with two scripts of ours in it: one before all others that listens for errors,
and one at the end, the probe. It stands in a frame, because Chromium's own window is never narrower
than 500 pixels; the answer is read from the page around the frame, which Chromium prints.
"""

import html
import json
import os
import re
import shutil
import subprocess
import tempfile

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
TIMEOUT = 180  # generous: a busy machine

LISTEN = """<script>
window.seen = [];
addEventListener('error', e => seen.push('error: ' + e.message), true);
addEventListener('securitypolicyviolation', e => seen.push('blocked: ' + e.blockedURI));
</script>"""

ANSWER = """<script>
addEventListener('load', () => {
  let found = null;
  try { found = (() => { %s })(); } catch (e) { seen.push('probe: ' + e); }
  const requests = performance.getEntriesByType('resource').map(r => r.name);
  const answer = document.createElement('pre');
  answer.id = 'answer';
  answer.textContent = JSON.stringify({found: found, seen: seen, requests: requests});
  document.body.append(answer);
  console.log('the probe has run');
});
</script></body>"""

AROUND = """<!DOCTYPE html><html><body><iframe width="%d" height="800" style="border: none" srcdoc="%s"></iframe>
<script>
const frame = document.querySelector('iframe');
addEventListener('load', () => document.body.append(frame.contentDocument.querySelector('#answer')));
</script></body></html>"""


class Page:
    """What the probe returned, errors, requests beside the page, lines on the console."""

    def __init__(self, text, probe, width=1000, dark=False):
        assert text.count("<head>") == 1 and text.count("</body>") == 1
        text = text.replace("<head>", "<head>" + LISTEN).replace("</body>", ANSWER % probe)
        with tempfile.TemporaryDirectory(prefix="rlar-page-") as folder:
            path = os.path.join(folder, "page.html")
            with open(path, "w", encoding="utf-8") as file:
                file.write(AROUND % (width, html.escape(text)))
            done = subprocess.run(
                [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--disable-background-networking", "--disable-dev-shm-usage", "--enable-logging=stderr",
                 "--user-data-dir=" + os.path.join(folder, "profile"), "--window-size=1200,900",
                 *(["--blink-settings=preferredColorScheme=0"] if dark else []), "--dump-dom", "file://" + path],
                capture_output=True, timeout=TIMEOUT, check=False)
        answer = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout.decode(), re.DOTALL)
        if answer is None:
            raise AssertionError("the probe did not answer: " + done.stderr.decode("utf-8", "replace")[-2000:])
        values = json.loads(html.unescape(answer.group(1)))
        self.found, self.seen, self.requests = values["found"], values["seen"], values["requests"]
        self.console = re.findall(r'CONSOLE.*?"(.*?)", source', done.stderr.decode("utf-8", "replace"))
