"""Paddock for Conan 2: `conan create packaging/conan`. It packages the checkout that it is in."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.gnu import PkgConfigDeps

required_conan_version = ">=2.0"
SOURCES = ("CMakeLists.txt", "LICENSE", "LICENSES/*", "cmake/*", "include/*", "recipes/*", "src/*", "testing/*")


class Paddock(ConanFile):
    name = "paddock"
    description = "Distributed locks on ZooKeeper for multithreaded C programs"
    license = "Apache-2.0"
    topics = ("zookeeper", "lock", "leader-election")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_tls": [True, False]}
    default_options = {"with_tls": False}

    @property
    def _checkout(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        header = load(self, os.path.join(self._checkout, "include/paddock/version.h"))
        self.version = ".".join(re.findall(r"^#define PDK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M))

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, src=self._checkout, dst=self.export_sources_folder)

    def configure(self):  # it is C
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")
        self.options["zookeeper-client-c"].with_openssl = self.options.with_tls

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("paddock is for Linux only")

    def requirements(self):
        self.requires("glib/[>=2.72 <3]")
        self.requires("zookeeper-client-c/[>=3.7 <4]")

    def build_requirements(self):
        self.tool_requires("pkgconf/[>=2]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        client = self.dependencies["zookeeper-client-c"].cpp_info
        # Its headers are in no folder of their own; everywhere else they are in zookeeper/.
        headers = os.path.join(self.generators_folder, "client")
        copy(self, "*.h", src=client.includedirs[0], dst=os.path.join(headers, "zookeeper"))
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["PDK_TESTS"] = False
        toolchain.cache_variables["PDK_EXAMPLES"] = False
        toolchain.cache_variables["PDK_COMMAND"] = False
        toolchain.cache_variables["PDK_MANUAL"] = False
        toolchain.cache_variables["ZooKeeper_INCLUDE_DIR"] = headers
        toolchain.cache_variables["ZooKeeper_LIBRARY"] = os.path.join(client.libdirs[0], "libzookeeper.a")
        toolchain.generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        copy(self, "LICENSES/*", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "paddock")
        for component, library, needs in (("paddock", "paddock", ["zookeeper-client-c::zookeeper-client-c", "glib::glib-2.0"]),
                                          ("fence", "paddock-fence", []),
                                          ("testing", "paddock-testing", ["glib::glib-2.0"])):
            part = self.cpp_info.components[component]
            part.set_property("cmake_target_name", f"paddock::{component}")
            part.set_property("pkg_config_name", library)
            part.libs = [library]
            part.requires = needs
            part.system_libs = ["pthread"]
