#!/usr/bin/python3
"""The example for Kubernetes: what it asks for is what the command has, and its script changes one Service, or nothing. There is no
cluster here, so the API is played. docker/test plays the example with Compose."""
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import threading
import unittest

import yaml

from bench import Case, wait_for

FOLDER = pathlib.Path(os.environ["PDK_SOURCE"], "docker/paddock")


class Api(http.server.ThreadingHTTPServer):
    """The Service `application` of an API server: a patch for another version is a conflict."""

    def __init__(self, certificate, key):
        self.service = {"metadata": {"resourceVersion": "100", "annotations": {}}, "spec": {"selector": {"app": "application"}}}
        self.patches, self.meanwhile = [], None
        super().__init__(("127.0.0.1", 0), Asked)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Asked(http.server.BaseHTTPRequestHandler):
    def answer(self, status, what):
        text = json.dumps(what, indent=2).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def allowed(self):
        return self.path == "/api/v1/namespaces/shop/services/application" and self.headers["Authorization"] == "Bearer secret"

    def do_GET(self):  # noqa: N802, the names that http.server asks for
        self.answer(200 if self.allowed() else 403, self.server.service)
        if self.server.meanwhile:
            self.server.service["metadata"]["resourceVersion"] = self.server.meanwhile

    def do_PATCH(self):  # noqa: N802
        patch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.patches.append((self.headers["Content-Type"], patch))
        wanted = patch["metadata"]["resourceVersion"] == self.server.service["metadata"]["resourceVersion"]
        self.answer(200 if wanted and self.allowed() else 409, {})

    def log_message(self, *_):
        """Nothing is logged."""


class Container(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.objects = {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text())}
        cls.pod = cls.objects["StatefulSet", "application"]["spec"]["template"]["spec"]
        cls.side_car = next(each for each in cls.pod["containers"] if each["name"] == "elect")

    def test_manifest(self):
        """What refers to something finds it."""
        names = {name for kind, name in self.objects if kind == "ConfigMap"}
        self.assertEqual({each["configMap"]["name"] for each in self.pod["volumes"]}, names)
        self.assertIn(("ServiceAccount", self.pod["serviceAccountName"]), self.objects)
        [rule] = self.objects["Role", "application-elect"]["rules"]
        self.assertEqual((rule["resources"], rule["resourceNames"], sorted(rule["verbs"])), (["services"], ["application"], ["get", "patch"]))
        for probe in ("livenessProbe", "readinessProbe"):
            self.assertEqual(self.side_car[probe]["httpGet"]["path"], "/healthz")

    def test_elected(self):
        """The side-car's own arguments, with its script, against the API: the Service names this pod, and has the token."""
        api, environment = self.api()
        process = self.stand(environment)
        wait_for("a patch", lambda: api.patches)
        [(kind, patch)] = api.patches
        self.assertEqual(kind, "application/merge-patch+json")
        self.assertEqual(patch["spec"], {"selector": {"statefulset.kubernetes.io/pod-name": "application-1"}})
        self.assertGreater(int(patch["metadata"]["annotations"]["paddock/token"]), 0)
        self.leave(process)

    def test_conflict(self):
        """Somebody else has changed the Service since it was read: the term ends, and the next one tries again."""
        api, environment = self.api()
        api.meanwhile = "101"
        process = self.stand(environment)
        wait_for("a second patch", lambda: len(api.patches) == 2)
        self.assertEqual([patch["metadata"]["resourceVersion"] for _, patch in api.patches], ["100", "101"])
        self.assertIn("409", self.leave(process))

    def leave(self, process):
        """In the gate, or later. What it has said."""
        process.terminate()
        _, err = process.communicate(timeout=30)
        self.assertIn(process.returncode, (0, 143), err)
        return err

    def api(self):
        account = self.file("account")
        account.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=api",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", account / "key", "-out", account / "ca.crt"], check=True, capture_output=True)
        (account / "token").write_text("secret")
        (account / "namespace").write_text("shop")
        api = Api(account / "ca.crt", account / "key")
        self.addCleanup(api.server_close)
        self.addCleanup(api.shutdown)
        return api, {"ACCOUNT": str(account), "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT_HTTPS": str(api.server_port),
                     "POD_NAME": "application-1"}

    def stand(self, environment):
        script = self.file("point")
        script.write_text(self.objects["ConfigMap", "application-elect"]["data"]["point"])
        script.chmod(0o755)
        self.environment.update(environment)
        arguments = [re.sub(r"\$\((\w+)\)", lambda name: self.environment[name[1]], word) for word in self.side_car["args"]]
        arguments = [word.replace("/scripts/point", str(script)).replace("0.0.0.0:8080", "127.0.0.1:0") for word in arguments]
        return self.start(*[self.path if word.startswith("/leaders/") else word for word in arguments])


if __name__ == "__main__":
    unittest.main()
