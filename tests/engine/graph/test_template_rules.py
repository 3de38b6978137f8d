"""A literal name of a template is a certain use where a framework's rule leaves one file."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from gitrepo import GitRepo
from shop_repository import Run

from codelens.engine.graph.template_comments import TAG_COMMENT
from codelens.engine.graph.template_rules import TemplatePaths, named_templates


class Case(NamedTuple):
    """A framework's files, and the lines that use one of its templates."""

    files: dict[str, str]
    template: str
    certain: set[tuple[str, int]]
    ambiguous: str
    """A second file that the name can mean."""


CASES = {
    "django": Case(
        {
            "shop/templates/shop/card.html": "card\n",
            "shop/templates/shop/list.html": (
                '{# {% include "shop/card.html" %} #}\n{% include "shop/card.html" with a=1 %}\n'
                "{%- extends 'shop/card.html' -%}\n{% include kind|add:'.html' %}\n"
                '{% include "shop/" ~ kind %}\n{% comment %}\n{% include "shop/card.html" %}\n'
                '{% endcomment %}\n{% import "./card.html" as cards %}\n'
            ),
            "shop/views.py": (
                "from django.shortcuts import (\n    get_object_or_404,\n    render,\n)\n\n\n"
                'def show(request):\n    """Say render(request, "shop/card.html")."""\n'
                '    # render(request, "shop/card.html")\n'
                '    return render(\n        request,\n        "shop/card.html",\n    )\n'
            ),
            "shop/mine.py": (
                "from shop.pages import render\n\n\n"
                'def show(request):\n    return render(request, "shop/card.html")\n'
            ),
        },
        "shop/templates/shop/card.html",
        {
            ("shop/templates/shop/list.html", 2),
            ("shop/templates/shop/list.html", 3),
            ("shop/templates/shop/list.html", 9),
            ("shop/views.py", 12),
        },
        "other/templates/shop/card.html",
    ),
    "flask": Case(
        {
            "web/templates/card.html": "card\n",
            "web/__init__.py": (
                "from flask import Flask, render_template\n\napp = Flask(__name__)\n\n\n"
                '@app.route("/")\ndef show():\n    return render_template("card.html", a=1)\n\n\n'
                'def late(kind):\n    return render_template("card" + kind)\n'
            ),
        },
        "web/templates/card.html",
        {("web/__init__.py", 8)},
        "admin/templates/card.html",
    ),
    "twig": Case(
        {
            "symfony.lock": "{}\n",
            "templates/shop/card.html.twig": "card\n",
            "templates/list.html.twig": (
                "{% extends 'shop/card.html.twig' %}\n{{ include('shop/card.html.twig') }}\n"
                "{% from 'shop/card.html.twig' import price %}\n"
                "{% include ['shop/card.html.twig', 'b.html.twig'] %}\n"
                "{# {% include 'shop/card.html.twig' %} #}\n"
            ),
            "src/Shop.php": (
                "<?php\n\nuse Symfony\\Bundle\\FrameworkBundle\\Controller\\AbstractController;\n\n"
                "class Shop extends AbstractController {\n  function show() {\n"
                "    return $this->render('shop/card.html.twig', []);\n  }\n"
                "  function late() {\n    return $this->render('shop/' . $a . '.html.twig');\n"
                "  }\n}\n"
            ),
        },
        "templates/shop/card.html.twig",
        {
            ("templates/list.html.twig", 1),
            ("templates/list.html.twig", 2),
            ("templates/list.html.twig", 3),
            ("src/Shop.php", 7),
        },
        "theme/shop/card.html.twig",
    ),
    "bundle": Case(
        {
            "config/bundles.php": "<?php\n",
            "lib/shop/src/ShopBundle.php": "<?php\nclass ShopBundle {}\n",
            "lib/shop/templates/card.html.twig": "card\n",
            "templates/list.html.twig": "{% include '@Shop/card.html.twig' only %}\n",
        },
        "lib/shop/templates/card.html.twig",
        {("templates/list.html.twig", 1)},
        "templates/bundles/ShopBundle/card.html.twig",
    ),
    "blade": Case(
        {
            "artisan": "<?php\n",
            "resources/views/shop/card.blade.php": "card\n",
            "resources/views/list.blade.php": (
                "@extends('shop.card')\n@include('shop.card', ['a' => 1])\n"
                "@includeWhen($list->has('x'), 'shop.card')\n@includeWhen(f($a), 'shop/card')\n"
                "{{-- @include('shop.card') --}}\n@include('shop.' . $kind)\n"
                "@include('pack::shop.card')\n@@include('shop.card')\n"
            ),
            "app/Shop.php": (
                "<?php\n\nclass Shop {\n  function show() {\n    return view('shop.card');\n  }\n"
                "  function late() {\n    return $this->view('shop.card');\n  }\n}\n"
            ),
        },
        "resources/views/shop/card.blade.php",
        {
            ("resources/views/list.blade.php", 1),
            ("resources/views/list.blade.php", 2),
            ("resources/views/list.blade.php", 3),
            ("resources/views/list.blade.php", 4),
            ("app/Shop.php", 5),
        },
        "resources/views/shop/card.php",
    ),
    "blade component": Case(
        {
            "artisan": "<?php\n",
            "resources/views/components/form/input.blade.php": "<input>\n",
            "resources/views/list.blade.php": (
                '<x-form.input a="b" />\n<x-form.input>c</x-form.input>\n<x-form.inputs />\n'
                "{{-- <x-form.input /> --}}\n<x-pack::form.input />\n<x-slot name='a' />\n"
            ),
        },
        "resources/views/components/form/input.blade.php",
        {("resources/views/list.blade.php", 1), ("resources/views/list.blade.php", 2)},
        "app/View/Components/Form/Input.php",
    ),
    "rails": Case(
        {
            "app/controllers/shops_controller.rb": (
                "class ShopsController < ApplicationController\n  def show\n"
                '    # render partial: "card"\n    render partial: "card", locals: { a: 1 }\n'
                "  end\nend\n"
            ),
            "app/views/shops/_card.html.erb": "card\n",
            "app/views/shops/_card.text.erb": "card\n",
            "app/views/shops/show.html.erb": (
                "<%= render 'card' %>\n<%= render partial: \"shops/card\", object: 1 %>\n"
                "<%# render 'card' %>\n<%= render @card %>\n<%= render \"#{kind}/card\" %>\n"
            ),
            "app/views/shops/show.js.erb": "show('<%= j render(partial: 'card') %>');\n",
            "app/views/posts/_card.html.erb": "card\n",
            "app/views/posts/_list.html.erb": "<%= render 'card' %>\n",
        },
        "app/views/shops/_card.html.erb",
        {
            ("app/views/shops/show.html.erb", 1),
            ("app/views/shops/show.html.erb", 2),
            ("app/views/shops/show.js.erb", 1),
        },
        "app/views/shops/_card.html.haml",
    ),
    "thymeleaf": Case(
        {
            "src/main/resources/templates/parts/card.html": "card\n",
            "src/main/resources/templates/list.html": (
                '<p th:replace="~{parts/card :: big}"/>\n<p th:insert="parts/card"/>\n'
                '<p th:insert="${part}"/>\n<p th:insert="~{:: card}"/>\n'
            ),
        },
        "src/main/resources/templates/parts/card.html",
        {
            ("src/main/resources/templates/list.html", 1),
            ("src/main/resources/templates/list.html", 2),
        },
        "",
    ),
    "handlebars": Case(
        {
            "views/partials/shop/card.hbs": "card\n",
            "views/list.hbs": "{{> shop/card a=1}}\n{{> (lookup . 'card')}}\n",
            "views/own.hbs": '{{#*inline "shop/card"}}{{/inline}}\n{{> shop/card}}\n',
        },
        "views/partials/shop/card.hbs",
        {("views/list.hbs", 1)},
        "admin/views/partials/shop/card.hbs",
    ),
    "phoenix": Case(
        {
            "lib/web/controllers/shop_controller.ex": (
                "defmodule Web.ShopController do\n  use Web, :controller\n\n"
                '  def show(conn, _) do\n    render(conn, "card.html", a: 1)\n  end\n\n'
                "  def late(conn, _) do\n    conn |> render(:card)\n  end\nend\n"
            ),
            "lib/web/templates/shop/card.html.heex": "card\n",
            "lib/web/templates/shop/list.html.eex": (
                '<%= render "card.html", a: 1 %>\n<%# render "card.html" %>\n'
            ),
            "lib/web/templates/post/list.html.eex": (
                '<%= render(Web.ShopView, "card.html") %>\n<%= render "card.html" %>\n'
            ),
        },
        "lib/web/templates/shop/card.html.heex",
        {
            ("lib/web/controllers/shop_controller.ex", 5),
            ("lib/web/controllers/shop_controller.ex", 9),
            ("lib/web/templates/shop/list.html.eex", 1),
            ("lib/web/templates/post/list.html.eex", 1),
        },
        "lib/web/templates/shop/card.html.eex",
    ),
}


@pytest.fixture
def committed() -> dict[str, str]:
    return {"README.md": "Shop\n"}


def certain_lines(run: Run, template: str) -> set[tuple[str, int]]:
    found = run("references", template, "--json").json
    lines = {(one["path"], one["line"]) for one in found["results"] if one["certain"]}
    assert found["certain"] == len(lines)
    return lines


def sites(rows: list[dict[str, list[str]]]) -> set[tuple[str, int]]:
    every = [site.rpartition(":") for row in rows for site in row["sites"]]
    return {(path, int(line)) for path, _, line in every}


def exported(run: Run, template: str) -> set[tuple[str, int]]:
    edges = [json.loads(line) for line in run("export", "edges").out.splitlines()]
    uses = [edge for edge in edges if edge["kind"] in {"include", "ref"}]
    return {(edge["src_file"], edge["line"]) for edge in uses if edge["dst_file"] == template}


@pytest.mark.parametrize("framework", sorted(CASES))
def test_every_answer_lists_the_certain_uses(repo: GitRepo, run: Run, framework: str) -> None:
    case = CASES[framework]
    repo.commit(framework, case.files)
    assert certain_lines(run, case.template) == case.certain
    assert exported(run, case.template) == case.certain
    for command in ("related", "impact"):
        found = run(command, case.template, "--json").json
        direct = [one for one in found["results"] if one["distance"] == 1]
        assert sites(direct) == case.certain, command
        assert not sites(found.get("may", [])) & case.certain


@pytest.mark.parametrize("framework", sorted(name for name in CASES if CASES[name].ambiguous))
def test_a_name_that_may_mean_two_files_is_a_possible_use(
    repo: GitRepo, run: Run, framework: str
) -> None:
    case = CASES[framework]
    repo.commit(framework, {**case.files, case.ambiguous: "other\n"})
    # `./card.html` still means the file in the folder.
    left = {place for place in case.certain if place == ("shop/templates/shop/list.html", 9)}
    ambiguous = case.certain - left
    assert certain_lines(run, case.template) == left
    assert exported(run, case.template) == left
    possible = run("references", case.template, "--json").json["results"]
    assert {(one["path"], one["line"]) for one in possible if not one["certain"]} >= ambiguous
    assert "names " in run("impact", case.template).out


def test_a_change_spreads_through_templates_and_not_through_code(repo: GitRepo, run: Run) -> None:
    repo.commit(
        "pages",
        {
            "shop/templates/base.html": "base\n",
            "shop/templates/shop/list.html": '{% extends "base.html" %}\n',
            "shop/templates/shop/late.html": '{% include "shop/list.html" %}\n',
            "shop/urls.py": (
                "from django.views.generic import TemplateView\n\n"
                'urls = [TemplateView.as_view(template_name="shop/late.html")]\n'
            ),
            "shop/main.py": "import shop.urls\n",
            "shop/other.py": 'def show():\n    return page("shop/late.html")\n',
        },
    )
    found = run("impact", "shop/templates/base.html", "--depth", "5", "--json").json
    assert [(one["handle"], one["distance"], one["how"]) for one in found["results"]] == [
        ("shop/templates/shop/list.html", 1, "include"),
        ("shop/templates/shop/late.html", 2, "include"),
        ("shop/urls.py#urls", 3, "ref"),
    ]
    assert [(one["handle"], one["why"]) for one in found["may"]] == [
        ("shop/other.py#show", "names shop/late.html, through shop/templates/shop/late.html")
    ]
    assert (
        "includes shop/templates/base.html at :1" in run("impact", "shop/templates/base.html").out
    )


def test_code_and_pages_use_the_templates_that_they_name(repo: GitRepo, run: Run) -> None:
    case = CASES["django"]
    repo.commit("django", case.files)
    for user in ("shop/templates/shop/list.html", "shop/views.py#show"):
        found = run("related", user, "--kind", "uses", "--json").json["results"]
        assert [one["handle"] for one in found] == ["shop/templates/shop/card.html"]


def test_an_edit_of_the_name_moves_the_use(repo: GitRepo, run: Run) -> None:
    case = CASES["django"]
    repo.commit("django", case.files)
    user = ("shop/templates/shop/list.html", 2)
    assert user in certain_lines(run, case.template)
    repo.write("shop/templates/shop/list.html", 'moved\n\n{% include "shop/card.html" %}\n')
    assert certain_lines(run, case.template) == {(user[0], 3), ("shop/views.py", 12)}
    (repo.root / case.template).unlink()
    assert exported(run, case.template) == set()


def test_a_page_does_not_include_itself() -> None:
    path = b"a/templates/admin/base.html"
    text = b'{% extends "admin/base.html" %}\n'
    assert list(named_templates(path, text, TemplatePaths([path]))) == []


@pytest.mark.parametrize("text", ["{#", "{# #}{#", "{% comment %}{#", "{% raw %}#}"])
def test_a_comment_without_an_end_hides_nothing(text: str) -> None:
    data = text.encode() * 3
    blanked = TAG_COMMENT.blanked(data + b"x")
    assert len(blanked) == len(data) + 1
    assert blanked.endswith(b"x")


def test_comments_keep_lines() -> None:
    assert TAG_COMMENT.blanked(b"a{# \n b #}\nc") == b"a   \n   #}\nc"
