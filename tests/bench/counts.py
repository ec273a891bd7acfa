"""What a server and the system count: packets, bytes and transactions."""
import re
import socket
import subprocess
from typing import NamedTuple

CONNECTION = re.compile(r"^ /[\d.]+:(\d+)\[.*?recved=(\d+),sent=(\d+)", re.M)
SOCKET = re.compile(r"pid=(\d+),.*?\bbytes_received:(\d+)")


class Counts(NamedTuple):
    sent: int  # packets of the client: requests and pings
    received: int  # answers and events
    kilobytes: float  # received

    def since(self, before, grants):
        """For each of the grants."""
        return Counts(*((after - earlier) / grants for after, earlier in zip(self, before)))


def ask(hosts, word):
    """A four-letter command."""
    host, port = hosts.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(word.encode())
        answer = b""
        while more := connection.recv(1 << 16):
            answer += more
    return answer.decode()


def zxid(hosts):
    return int(re.search(r"Zxid: (0x\w+)", ask(hosts, "srvr"))[1], 16)


def sockets(hosts, pid):
    """{port: bytes received} of the connections of a process."""
    listed = subprocess.run(["ss", "-tinpHO", "dst", hosts], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in listed.splitlines():
        match = SOCKET.search(line)
        if match and int(match[1]) == pid:
            found[int(line.split()[3].rpartition(":")[2])] = int(match[2])
    return found


def of(hosts, pid):
    """The counts of all connections of a process."""
    own = sockets(hosts, pid)
    packets = [(int(sent), int(received)) for port, sent, received in CONNECTION.findall(ask(hosts, "cons")) if int(port) in own]
    return Counts(sum(sent for sent, _ in packets), sum(received for _, received in packets), sum(own.values()) / 1000)
