"""An edited template reports its views: code that names it, or renders it without naming it."""

from __future__ import annotations

import pytest
from gitrepo import GitRepo
from shop_repository import Run

VIEWS = {
    "app/views.py": (
        'def home(request):\n    return render(request, "shop/home.html")\n\n\n'
        'class Other:\n    template_name = "shop/other.html"\n\n\n'
        "def late(request):\n    return render(\n        request,\n"
        '        "shop/late.html",\n    )\n\n\n'
        '# A comment names "shop/home.html".\n'
        'def no_view():\n    return "home"\n'
    ),
    "app/templates/shop/home.html": '{% extends "base.html" %}\n',
    "app/templates/shop/other.html": "other\n",
    "app/templates/shop/late.html": "late\n",
    "app/templates/base.html": "base\n",
    "app/controllers/users_controller.rb": (
        "class UsersController < ApplicationController\n  def show\n  end\n"
        "  def create\n    render :edit\n  end\n"
        '  def index\n    render "users/list"\n  end\nend\n'
    ),
    "app/views/users/show.html.erb": "<%= render 'form' %>\n",
    "app/views/users/_form.html.erb": "form\n",
    "app/views/users/edit.html.erb": "edit\n",
    "app/views/users/list.html.erb": "list\n",
    "app/views/posts/edit.html.erb": "edit\n",
    "app/Orders.php": (
        "<?php\nclass Orders {\n  function all() { return view('orders.list', []); }\n"
        "  function sub() { return View::make('orders.sub.part'); }\n"
        "  function twig() { return $this->render('@App/mail.html.twig'); }\n}\n"
    ),
    "resources/views/orders/list.blade.php": "@extends('layouts.app')\n",
    "resources/views/layouts/app.blade.php": "app\n",
    "resources/views/orders/sub/part.blade.php": "part\n",
    "templates/mail.html.twig": "mail\n",
    "web/app.js": (
        "function page(req, res) {\n  res.render('account', {});\n}\n"
        "const letter = read('views/letter.ejs');\n"
    ),
    "web/views/account.hbs": "{{> header}}\n",
    "web/views/partials/header.hbs": "header\n",
    "web/views/letter.ejs": "letter\n",
    "web/views/page.pug": "extends layout\n",
    "web/views/layout.pug": "layout\n",
    "web/main.go": 'package main\n\nfunc show() { t.ExecuteTemplate(w, "index.tmpl", nil) }\n',
    "web/templates/index.tmpl": "index\n",
    "web/HomeController.java": (
        'class HomeController {\n  String home() {\n    return "welcome";\n  }\n}\n'
    ),
    "web/templates/welcome.html": "welcome\n",
}


@pytest.fixture
def committed() -> dict[str, str]:
    return VIEWS


def users(run: Run, *args: str) -> dict[str, str]:
    """Who may use it, with the reason from the text."""
    found = run(*args, "--json").json
    return {one["handle"]: one["why"] for one in found.get("may", ())}


@pytest.mark.parametrize(
    ("template", "handle", "why"),
    [
        ("app/templates/shop/home.html", "app/views.py#home", "names shop/home.html"),
        ("app/templates/shop/other.html", "app/views.py#Other.template_name", "names shop/other"),
        ("app/templates/shop/late.html", "app/views.py#late", "names shop/late.html"),
        ("resources/views/orders/list.blade.php", "app/Orders.php#Orders.all", "names orders.list"),
        ("resources/views/layouts/app.blade.php", "resources/views/orders/list.blade.php", "names"),
        ("resources/views/orders/sub/part.blade.php", "app/Orders.php#Orders.sub", "names orders."),
        ("templates/mail.html.twig", "app/Orders.php#Orders.twig", "names @App/mail.html.twig"),
        ("web/views/account.hbs", "web/app.js#page", "names account"),
        ("web/views/letter.ejs", "web/app.js#letter", "names views/letter.ejs"),
        ("web/views/layout.pug", "web/views/page.pug", "names layout"),
        ("web/templates/index.tmpl", "web/main.go#show", "names index.tmpl"),
        ("web/templates/welcome.html", "web/HomeController.java#HomeController.home", "names wel"),
        (
            "app/views/users/show.html.erb",
            "app/controllers/users_controller.rb#UsersController.show",
            "renders it by its own name",
        ),
    ],
)
def test_an_edited_template_names_its_views(
    repo: GitRepo, run: Run, template: str, handle: str, why: str
) -> None:
    repo.write(template, VIEWS[template] + "edited\n")
    for args in (["impact", "--diff"], ["impact", template], ["related", template]):
        reported = users(run, *args)
        assert handle in reported, (args, reported)
        assert reported[handle].startswith(why)
    # A possible use is not an edge.
    found = run("impact", "--diff", "--json").json
    assert found["results"] == []
    assert found["at_least"] is True


def test_a_text_that_is_rendered_nowhere_names_no_template(repo: GitRepo, run: Run) -> None:
    """Neither the bare word `home` nor a comment is a use of it."""
    assert set(users(run, "impact", "app/templates/shop/home.html")) == {"app/views.py#home"}


def test_a_bare_name_means_the_template_of_its_own_controller(repo: GitRepo, run: Run) -> None:
    create = "app/controllers/users_controller.rb#UsersController.create"
    found = run("impact", "app/views/users/edit.html.erb", "--json").json
    assert [one["handle"] for one in found["results"]] == [create]
    assert "may" not in found
    assert users(run, "impact", "app/views/posts/edit.html.erb") == {}


def test_each_template_with_one_name_is_a_candidate(repo: GitRepo, run: Run) -> None:
    repo.write_all(
        {
            "one/templates/cart.html": "1\n",
            "two/templates/cart.html": "2\n",
            "shop.py": 'def cart():\n    return render("cart.html")\n',
        }
    )
    found = run("impact", "one/templates/cart.html", "--json").json
    assert [(one["handle"], one["choices"]) for one in found["may"]] == [("shop.py#cart", 2)]
    assert "names cart.html, one of 2" in run("impact", "one/templates/cart.html").out


def test_views_are_reported_through_including_templates(repo: GitRepo, run: Run) -> None:
    reported = users(run, "impact", "app/templates/base.html")
    through = "names shop/home.html, through app/templates/shop/home.html"
    assert reported["app/views.py#home"] == through
    assert "app/views.py#home" not in users(run, "related", "app/templates/base.html")


def test_a_name_with_its_ending_is_likelier_than_one_that_may_be_a_route(
    repo: GitRepo, run: Run
) -> None:
    repo.write_all(
        {
            "auth/templates/auth/login.html": "in\n",
            "auth/a.py": 'def ask():\n    return redirect(url_for("auth.login"))\n',
            "auth/b.py": 'def login():\n    return render_template("auth/login.html")\n',
            "auth/templates/auth/register.html": "{% include 'auth/login.html' %}\n",
            "auth/aa.py": 'def register():\n    return render_template("auth/register.html")\n',
        }
    )
    reported = list(users(run, "impact", "auth/templates/auth/login.html"))
    assert reported == [
        "auth/b.py#login",
        "auth/a.py#ask",
        "auth/aa.py#register",
    ]


def test_a_template_that_is_gone_names_its_views(repo: GitRepo, run: Run) -> None:
    (repo.root / "app/templates/shop/other.html").unlink()
    assert "app/views.py#Other.template_name" in users(run, "impact", "--diff")


def test_templates_that_extend_each_other_end(repo: GitRepo, run: Run) -> None:
    repo.write_all(
        {
            "t/templates/left.html": '{% include "right.html" %}\n',
            "t/templates/right.html": '{% include "left.html" %}\n',
        }
    )
    found = run("impact", "t/templates/left.html", "--depth", "5", "--json").json
    assert [one["handle"] for one in found["results"]] == ["t/templates/right.html"]


REGISTERED = {
    "shop/templatetags/money.py": (
        "from django import template\n\nregister = template.Library()\n\n\n"
        "@register.filter\ndef money(value):\n    return value\n\n\n"
        '@register.filter(name="short")\ndef shorten(value):\n    return value\n\n\n'
        "@register.simple_tag(takes_context=True)\ndef basket(context):\n    return context\n\n\n"
        '@register.inclusion_tag("shop/card.html")\ndef card(item):\n    return {}\n\n\n'
        "def plain(value):\n    return value\n"
    ),
    "shop/filters.py": (
        '@app.template_filter("when")\ndef format_date(value):\n    return value\n\n\n'
        "@app.template_global()\ndef asset(path):\n    return path\n"
    ),
    "shop/templates/shop/list.html": (
        "{{ item.price|money }} {{ item.name | short }}\n"
        "{% basket %}{% card item %}\n"
        "{{ item.date|when }} <a href=\"{{ asset('a.css') }}\">\n"
        "{{ plain }} {{ moneybag }} money short\n"
    ),
}


@pytest.mark.parametrize(
    ("target", "line", "why"),
    [
        ("shop/templatetags/money.py#money", 1, "uses the filter money"),
        ("shop/templatetags/money.py#shorten", 1, "uses the filter short"),
        ("shop/templatetags/money.py#basket", 2, "uses the tag basket"),
        ("shop/templatetags/money.py#card", 2, "uses the tag card"),
        ("shop/filters.py#format_date", 3, "uses the filter when"),
        ("shop/filters.py#asset", 3, "uses the global asset"),
        ("shop/templatetags/money.py#plain", 0, ""),
    ],
)
def test_a_registered_function_is_used_by_templates(
    repo: GitRepo, run: Run, target: str, line: int, why: str
) -> None:
    repo.write_all(REGISTERED)
    found = run("impact", target, "--json").json.get("may", ())
    sites = [site for one in found if one["why"] == why for site in one["sites"]]
    assert sites == ([f"shop/templates/shop/list.html:{line}"] if line else [])
