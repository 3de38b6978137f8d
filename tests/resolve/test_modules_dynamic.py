"""Ruby, PHP, Lua, Perl, Elixir, Erlang, Haskell, Clojure, OCaml, Julia, and files by path."""

from __future__ import annotations

import pytest
from resolved_imports import imported


def of(at: str, text: str, *paths: str, **files: str) -> list[str]:
    return imported({**dict.fromkeys(paths, ""), **files, at: text}, at)


def test_ruby_requires_are_below_lib_or_next_to_the_file() -> None:
    text = (
        "require 'shop/cart'\nrequire_relative 'order'\nrequire_relative '../x'\nrequire 'json'\n"
    )
    paths = ["lib/shop/cart.rb", "lib/shop/order.rb", "lib/x.rb", "lib/shop/json.rb"]
    assert of("lib/shop/all.rb", text, *paths) == paths[:3]


def test_ruby_tests_find_their_helper_and_ambiguity_is_not_guessed() -> None:
    assert of("test/a/x_test.rb", "require 'helper'\n", "test/helper.rb") == ["test/helper.rb"]
    both = ["lib/shop/cart.rb", "lib/cart.rb"]
    assert of("lib/shop/all.rb", "require 'cart'\n", *both) == []


def test_php_classes_follow_the_autoload_rules() -> None:
    manifest = (
        '{"autoload": {"psr-4": {"App\\\\": "src/", "App\\\\Deep\\\\": ["deep"]}},'
        ' "autoload-dev": {"psr-4": {"Tests\\\\": "tests"}}}'
    )
    text = (
        "<?php\nuse App\\Mail\\Letter;\nuse App\\Deep\\{One, Two};\n"
        "use Tests\\Case1;\nuse Psr\\X;\n"
    )
    paths = ["src/Mail/Letter.php", "deep/One.php", "deep/Two.php", "tests/Case1.php"]
    assert of("src/A.php", text, *paths, **{"composer.json": manifest}) == paths


def test_php_includes_are_relative_to_the_file() -> None:
    text = "<?php\nrequire __DIR__ . '/boot.php';\nrequire 'old.php';\n"
    assert of("web/index.php", text, "web/boot.php", "boot.php", "old.php") == [
        "web/boot.php",
        "old.php",
    ]


@pytest.mark.parametrize(
    ("at", "text", "expected", "others"),
    [
        ("lua/app/x.lua", "local a = require 'app.util'\nrequire('none.x')\n",
         ["lua/app/util.lua"], ["test/util.lua"]),
        ("lua/app/x.lua", "local a = require('app.core')\n", ["lua/app/core/init.lua"], []),
        ("t/x.t", "use Shop::Cart;\nuse parent 'Shop::Base';\nuse Moo;\n",
         ["lib/Shop/Cart.pm", "lib/Shop/Base.pm"], ["x/y/Moo.pm"]),
        ("lib/shop/x.ex",
         "defmodule S do\n  alias Shop.HTTPClient\n  alias Shop.{Cart, None}\nend\n",
         ["lib/shop/http_client.ex", "lib/shop/cart.ex"], ["deps.ex"]),
        ("src/x.erl",
         "-module(x).\n-behaviour(mine).\n-include(\"y.hrl\").\n-include(\"z.hrl\").\n",
         ["src/mine.erl", "src/y.hrl", "include/z.hrl"], ["priv/mine.erl"]),
        ("test/Spec.hs",
         "import Data.Shop.Cart (add)\nimport qualified Data.Map as M\nimport Util\n",
         ["src/Data/Shop/Cart.hs", "test/Util.hs"], ["bench/Util.hs"]),
        ("src/shop/x.clj", "(ns shop.x (:require [shop.my-cart :as c] [clojure.string :as s]))\n",
         ["src/shop/my_cart.clj"], ["src/shop/my_cart.cljs"]),
        ("src/x.ml", "open Cart\nopen Base\n", ["src/cart.ml"], ["other/base.ml"]),
        ("src/Shop.jl",
         "module Shop\ninclude(\"cart.jl\")\nusing Dates\nend\n", ["src/cart.jl"], []),
        ("api/v1/a.proto", "import \"api/v1/b.proto\";\nimport \"google/x.proto\";\n",
         ["api/v1/b.proto"], []),
        ("src/x.zig", "const a = @import(\"a/b.zig\");\nconst std = @import(\"std\");\n",
         ["src/a/b.zig"], ["std.zig"]),
        ("bin/run", "#!/bin/sh\n. ./env.sh\nsource \"$DIR/lib/common.sh\"\nsource \"$X\"\n",
         ["bin/env.sh", "lib/common.sh"], []),
        ("css/a.scss", "@use 'parts/theme';\n@import 'base';\n@use 'sass:math';\n",
         ["css/parts/_theme.scss", "css/_base.scss"], []),
        ("R/a.R", "source('R/util.R')\nlibrary(dplyr)\n", ["R/util.R"], ["dplyr.R"]),
        ("Makefile", "include rules.mk\n", ["rules.mk"], []),
        ("CMakeLists.txt", "include(Warnings)\nadd_subdirectory(src)\nfind_package(X)\n",
         ["cmake/Warnings.cmake", "src/CMakeLists.txt"], []),
        ("main.tf", "module \"net\" {\n  source = \"./modules/net\"\n}\n",
         ["modules/net/main.tf", "modules/net/vars.tf"], ["modules/net/README.md"]),
    ],
)  # fmt: skip
def test_written_code_is_found(at: str, text: str, expected: list[str], others: list[str]) -> None:
    at = at if at != "bin/run" else "bin/run.sh"
    assert of(at, text, *expected, *others) == expected


def test_dart_packages_of_the_view_are_found_by_their_name() -> None:
    text = "import 'package:shop/cart.dart';\nimport 'src/x.dart';\nimport 'dart:io';\n"
    paths = ["pkgs/shop/lib/cart.dart", "app/lib/src/x.dart"]
    files = {"pkgs/shop/pubspec.yaml": "name: shop\n", "app/pubspec.yaml": "name: app\n"}
    assert of("app/lib/app.dart", text, *paths, **files) == paths
