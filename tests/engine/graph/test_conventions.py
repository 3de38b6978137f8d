"""What a framework uses by the place of a file is a possible use, with the convention named."""

from __future__ import annotations

import re

import pytest
from gitrepo import GitRepo
from shop_repository import Run

FILES = {
    "web/nuxt.config.ts": "export default defineNuxtConfig({})\n",
    "web/components/base/BaseCard.vue": "<template><p/></template>\n",
    "web/components/user/Menu.client.vue": "<template><p/></template>\n",
    "web/components/index.vue": "<template><p/></template>\n",
    "web/composables/cart.ts": (
        "export function useCart() {}\nexport const useTotal = () => 1\nfunction inner() {}\n"
    ),
    "web/composables/deep/more.ts": "export function useDeep() {}\n",
    "web/server/utils/db.ts": "export function useDb() {}\n",
    "web/server/api/items.ts": "export default defineEventHandler(() => useDb())\n",
    "web/pages/index.vue": (
        "<script setup>\nconst cart = useCart()\nuseDeep()\nuseDb()\ninner()\n"
        "const all = { useTotal: 1 }\n</script>\n"
        "<template><BaseCard /><lazy-user-menu/><BaseBaseCard/>{{ useTotal() }}</template>\n"
    ),
    "web/pages/other.vue": (
        "<script setup>\nimport { useCart } from '~/lib'\nconst useTotal = 1\n"
        "useCart(); useTotal\n</script>\n"
    ),
    "shop/other.vue": "<script setup>\nuseCart()\n</script>\n<template><BaseCard /></template>\n",
    "web/composables/use-fee.ts": "export default function () {\n  return 1\n}\n",
    "web/pages/fee.vue": "<script setup>\nconst fee = useFee()\n</script>\n",
    "next/next.config.js": "module.exports = {}\n",
    "next/src/app/(shop)/blog/[slug]/page.tsx": (
        "export function generateMetadata() {}\n"
        "function Post() { return <p/> }\nexport function helper() {}\nexport default Post\n"
    ),
    "next/app/api/items/route.ts": "export async function GET() {}\n",
    "next/pages/old/index.tsx": (
        "export async function getServerSideProps() {}\n"
        "export default function Old() { return <p/> }\n"
    ),
    "next/middleware.ts": "export function middleware() {}\n",
    "next/lib/middleware.ts": "export function middleware() {}\n",
    "next/client.tsx": (
        "export const load = () => fetch('/api/items?page=1')\n"
        "export const a = (s: string) => <a href={`/blog/${s}`}/>\n"
        "export const old = '/old'\nexport const other = '/api/items/1'\n"
    ),
    "app/kit/svelte.config.js": "export default {}\n",
    "app/kit/src/routes/api/[id]/+server.ts": "export function POST() {}\n",
    "app/kit/src/hooks.server.ts": "export const handle = async () => {}\n",
    "app/kit/src/params/int.ts": "export function match(x) { return true }\n",
    "app/kit/src/routes/+page.svelte": "<script>\nfetch(`/api/${id}`)\n</script>\n",
    "kit/routes/+page.server.ts": (
        "export async function load() { return {} }\nexport const actions = {}\n"
        "export const prerender = true\n"
    ),
    "kit/routes/+page.svelte": "<script>\nlet { data, form } = $props()\n</script>\n{data.a}\n",
    "kit/routes/+layout.ts": "export const load = () => ({})\n",
    "lib/core.ex": (
        "defmodule Web.Core do\n  def card(assigns) do\n    render(assigns)\n  end\n\n"
        '  def list(assigns) do\n    ~H"""\n    <.card />\n    """\n  end\n\n'
        "  def cards(items), do: items\nend\n"
    ),
    "lib/page.html.heex": '<.cards />\n<Core.card title="a">\n</Core.card>\n<Other.card />\n',
    "docs/Chart.jsx": "export const Chart = () => <p/>\nexport const Axis = () => <p/>\n",
    "docs/other/Chart.jsx": "export const Chart = () => <p/>\n",
    "docs/guide.mdx": "# Guide\n\nimport {\n  Chart,\n} from './Chart'\n\n<Chart year={1} />\n",
    "docs/aliased.mdx": 'import { Chart } from "@site/other/Chart.jsx"\n',
    "app/View/Components/Form/UserCard.php": (
        "<?php\nnamespace App\\View\\Components\\Form;\nclass UserCard extends Component {}\n"
    ),
    "resources/views/home.blade.php": '<p/>\n<x-form.user-card a="b">x</x-form.user-card>\n',
    "rails/app/models/order.rb": "class Order < ApplicationRecord\nend\n",
    "rails/app/models/buyer.rb": (
        "class Buyer\n  has_many :orders, dependent: :destroy\n"
        "  has_many :orders, class_name: 'Other'\n"
        '  belongs_to :last, class_name: "Order"\n  # belongs_to :order\nend\n'
    ),
    "rails/app/helpers/orders_helper.rb": (
        "module OrdersHelper\n  def money(x)\n    x\n  end\nend\n"
    ),
    "rails/app/controllers/orders_controller.rb": (
        "class OrdersController\n  def show\n    render\n  end\n  def pay\n    render\n  end\nend\n"
    ),
    "rails/app/views/orders/show.html.erb": (
        "<p>Order money(1)</p>\n<%= link_to money(@order), order_path %>\n"
        "<%# money(1) %>\n<% Order.all.each do |x| %><%= x.money %>\n<% end %>\n"
    ),
    "rails/config/routes.rb": (
        "Rails.application.routes.draw do\n  resources :orders\n"
        "  post 'pay', to: 'orders#pay'\n  get 'x', to: 'old/orders#pay'\nend\n"
    ),
    "app/Facades/Cart.php": (
        "<?php\nclass Cart extends Facade {\n    protected static function getFacadeAccessor()\n"
        "    {\n        return CartService::class;\n    }\n}\n"
    ),
    "app/CartService.php": "<?php\nclass CartService {\n    public function add() {}\n"
    "    public function drop() {}\n    public function clear() {}\n}\n",
    "app/Checkout.php": "<?php\nclass Checkout {\n    function go() { Cart::add(1); }\n"
    "    function late() { app(CartService::class)->clear(); }\n}\n",
}


@pytest.fixture
def committed() -> dict[str, str]:
    return FILES


@pytest.mark.parametrize(
    ("target", "sites"),
    [
        (
            "web/components/base/BaseCard.vue",
            {"web/pages/index.vue:8": "uses <BaseCard>, which Nuxt finds in components/"},
        ),
        (
            "web/components/user/Menu.client.vue",
            {"web/pages/index.vue:8": "uses <UserMenu>, which Nuxt finds in components/"},
        ),
        ("web/components/index.vue", {}),
        (
            "web/composables/cart.ts#useCart",
            {"web/pages/index.vue:2": "uses useCart, which Nuxt imports from composables/"},
        ),
        (
            "web/composables/cart.ts#useTotal",
            {"web/pages/index.vue:8": "uses useTotal, which Nuxt imports from composables/"},
        ),
        (
            "web/composables/cart.ts",
            {
                "web/pages/index.vue:2": "uses useCart, which Nuxt imports from composables/",
                "web/pages/index.vue:8": "uses useTotal, which Nuxt imports from composables/",
            },
        ),
        ("web/composables/cart.ts#inner", {}),
        (
            "web/composables/use-fee.ts",
            {"web/pages/fee.vue:2": "uses useFee, which Nuxt imports from composables/"},
        ),
        (
            "next/src/app/(shop)/blog/[slug]/page.tsx#Post",
            {
                "next/src/app/(shop)/blog/[slug]/page.tsx:2": "Next calls the default export of "
                "this file for /blog/[slug]",
                "next/client.tsx:2": "names /blog/[slug], which Next serves from "
                "next/src/app/(shop)/blog/[slug]/page.tsx",
            },
        ),
        (
            "next/src/app/(shop)/blog/[slug]/page.tsx#generateMetadata",
            {
                "next/src/app/(shop)/blog/[slug]/page.tsx:1": "Next reads generateMetadata of "
                "this file by its name"
            },
        ),
        ("next/src/app/(shop)/blog/[slug]/page.tsx#helper", {}),
        (
            "next/app/api/items/route.ts#GET",
            {
                "next/app/api/items/route.ts:1": "Next answers GET /api/items with it",
                "next/client.tsx:1": "names /api/items, which Next serves from "
                "next/app/api/items/route.ts",
            },
        ),
        (
            "next/pages/old/index.tsx#getServerSideProps",
            {
                "next/pages/old/index.tsx:1": "Next reads getServerSideProps of this file by its "
                "name"
            },
        ),
        (
            "next/pages/old/index.tsx#Old",
            {
                "next/pages/old/index.tsx:2": "Next calls the default export of this file for /old",
                "next/client.tsx:3": "names /old, which Next serves from next/pages/old/index.tsx",
            },
        ),
        (
            "next/middleware.ts#middleware",
            {"next/middleware.ts:1": "Next reads middleware of this file by its name"},
        ),
        ("next/lib/middleware.ts#middleware", {}),
        (
            "app/kit/src/routes/api/[id]/+server.ts#POST",
            {
                "app/kit/src/routes/api/[id]/+server.ts:1": "SvelteKit answers POST /api/[id] "
                "with it",
                "app/kit/src/routes/+page.svelte:2": "names /api/[id], which SvelteKit serves "
                "from app/kit/src/routes/api/[id]/+server.ts",
            },
        ),
        (
            "app/kit/src/hooks.server.ts#handle",
            {"app/kit/src/hooks.server.ts:1": "SvelteKit reads handle of this file by its name"},
        ),
        (
            "app/kit/src/params/int.ts#match",
            {"app/kit/src/params/int.ts:1": "SvelteKit reads match of this file by its name"},
        ),
        ("web/composables/deep/more.ts#useDeep", {}),
        (
            "web/server/utils/db.ts#useDb",
            {"web/server/api/items.ts:1": "uses useDb, which Nuxt imports from server/utils/"},
        ),
        (
            "kit/routes/+page.server.ts#load",
            {
                "kit/routes/+page.svelte:2": "receives what load of +page.server.ts returns, as "
                "SvelteKit says"
            },
        ),
        (
            "kit/routes/+page.server.ts#actions",
            {
                "kit/routes/+page.svelte:2": "receives what actions of +page.server.ts returns, "
                "as SvelteKit says"
            },
        ),
        ("kit/routes/+page.server.ts#prerender", {}),
        ("kit/routes/+layout.ts#load", {}),
        (
            "lib/core.ex#Web.Core.card",
            {
                "lib/core.ex:8": "renders <.card>, a component of HEEx",
                "lib/page.html.heex:2": "renders <.card>, a component of HEEx",
            },
        ),
        ("lib/core.ex#Web.Core.cards", {}),
        ("docs/Chart.jsx#Chart", {}),
        ("docs/Chart.jsx#Axis", {}),
        ("docs/other/Chart.jsx#Chart", {"docs/aliased.mdx:1": "imports Chart in MDX"}),
        (
            "rails/app/models/order.rb#Order",
            {
                "rails/app/models/buyer.rb:2": "has an association with Order, as Rails names it",
                "rails/app/models/buyer.rb:4": "has an association with Order, as Rails names it",
                "rails/app/views/orders/show.html.erb:4": "reads Order, which Rails loads by its "
                "name",
            },
        ),
        (
            "rails/app/helpers/orders_helper.rb#OrdersHelper.money",
            {"rails/app/views/orders/show.html.erb:2": "calls money, a helper of Rails"},
        ),
        (
            "rails/app/controllers/orders_controller.rb#OrdersController.show",
            {"rails/config/routes.rb:2": "routes to show, as Rails says"},
        ),
        (
            "rails/app/controllers/orders_controller.rb#OrdersController.pay",
            {"rails/config/routes.rb:3": "routes to pay, as Rails says"},
        ),
        (
            "app/View/Components/Form/UserCard.php",
            {
                "resources/views/home.blade.php:2": "renders <x-form.user-card>, a component of "
                "Laravel"
            },
        ),
        (
            "app/CartService.php#CartService.add",
            {"app/Checkout.php:3": "calls it through the facade Cart of Laravel"},
        ),
        (
            "app/CartService.php#CartService.clear",
            {"app/Checkout.php:4": "calls it on a CartService that Laravel makes"},
        ),
        ("app/CartService.php#CartService.drop", {}),
    ],
)
def test_a_use_by_convention_is_possible(
    repo: GitRepo, run: Run, target: str, sites: dict[str, str]
) -> None:
    found = run("impact", target, "--json").json
    # Other reasons are other rules: uses of a name with an unknown receiver.
    why = {
        site: one["why"]
        for one in found.get("may", ())
        for site in one["sites"]
        if re.search("Next|Nuxt|SvelteKit|MDX|HEEx|Rails|Laravel", one.get("why", ""))
    }
    assert why == sites
    assert not any(site in str(found["results"]) for site in sites)


def test_a_convention_explains_an_unresolved_use_of_the_name(repo: GitRepo, run: Run) -> None:
    found = run("references", "web/composables/cart.ts#useCart", "--json").json
    reasons = [(line["path"], line["why"]) for line in found["results"] if not line["certain"]]
    assert ("web/pages/index.vue", "uses useCart, which Nuxt imports from composables/") in reasons
    places = [(line["path"], line["line"]) for line in found["results"]]
    assert len(set(places)) == len(places)


def test_an_edited_component_reports_its_users(repo: GitRepo, run: Run) -> None:
    repo.write("web/components/base/BaseCard.vue", "<template><b/></template>\n")
    found = run("impact", "--diff", "--json").json
    assert [one["handle"] for one in found["may"]] == ["web/pages/index.vue"]
