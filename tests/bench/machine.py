"""The machine and the programs that were measured, in words that name no machine."""
import os
import platform
import re
import subprocess
from pathlib import Path

PACKAGES = {"zookeeper": "ZooKeeper's server", "libzookeeper-mt2": "its C client", "libzookeeper-java": "its Java client",
            "libcurator-recipes-java": "Curator", "python3-kazoo": "kazoo"}


def first(pattern, path, otherwise="unknown"):
    match = re.search(pattern, Path(path).read_text(), re.M)
    return match[1].strip() if match else otherwise


def version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False)
    return done.stdout or "unknown"


def java():
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    return said.split('"')[1]


def describe():
    """{what: words}, in the order of the page. The load is that of other work, when the run begins."""
    processor = first(r"^model name\s*: (.*)$", "/proc/cpuinfo", platform.machine())
    memory = int(first(r"^MemTotal: *(\d+)", "/proc/meminfo", "0"))
    return {
        "processor": f"{processor}, {os.cpu_count()} cores",
        "memory": f"{round(memory / 2**20)} GiB",
        "kernel": "Linux " + re.match(r"[\d.]*\d", platform.release())[0],
        "Debian": Path("/etc/debian_version").read_text().strip(),
        **{words: version(package) for package, words in PACKAGES.items()},
        "Java": java(),
        "Python": platform.python_version(),
        "load when the run began": f"{os.getloadavg()[0]:.1f}",
    }
