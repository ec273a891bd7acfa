"""An application for the example: it works only while the side-car beside it leads, and answers with its name.

    application.py PORT
"""
import http.server
import socket
import sys
import urllib.error
import urllib.request


def leads():
    """A request that comes late, through a proxy that has not noticed yet, is not worked on."""
    try:
        with urllib.request.urlopen("http://127.0.0.1:8080/leader", timeout=1) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


class Application(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802, the name that http.server asks for
        status, text = (200, socket.gethostname()) if leads() else (503, "not the leader")
        self.send_response(status)
        self.send_header("Content-Length", str(len(text) + 1))
        self.end_headers()
        self.wfile.write(f"{text}\n".encode())

    def log_message(self, *_):
        """Nothing is logged."""


http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Application).serve_forever()
