# Install codelens for this user in a separate environment, and connect the coding agents.
#
#   powershell -ExecutionPolicy Bypass -File install\install.ps1 [-From SOURCE] [-NoAgents]
#   powershell -ExecutionPolicy Bypass -File install\install.ps1 -Uninstall
#
# Like install.sh: uses uv or pipx if they are on PATH, or else a venv in %LOCALAPPDATA%\codelens.
# Not run on Windows yet.
param(
    [string]$From = "",
    [switch]$NoAgents,
    [switch]$Uninstall,
    [Parameter(ValueFromRemainingArguments = $true)][string[]]$Rest = @()
)
$ErrorActionPreference = "Stop"
$data = Join-Path $env:LOCALAPPDATA "codelens"
$record = Join-Path $data "installed-with"

function Test-Command([string]$Name) {
    return [bool](Get-Command $Name -ErrorAction SilentlyContinue)
}

function Assert-Done([string]$What) {
    if ($LASTEXITCODE -ne 0) { throw "install.ps1: $What failed; no agent was configured" }
}

function Find-Python {
    $names = @("python", "python3", "py")
    if ($env:CODELENS_PYTHON) { $names = @($env:CODELENS_PYTHON) }
    foreach ($name in $names) {
        if (Test-Command $name) {
            & $name -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>$null
            if ($LASTEXITCODE -eq 0) {
                return (& $name -c "import sys; print(sys.executable)")
            }
        }
    }
    throw "install.ps1: no Python 3.11 or newer is on PATH; install one, or name it with CODELENS_PYTHON"
}

function Get-OwnCheckout {
    $root = Split-Path -Parent $PSScriptRoot
    $project = Join-Path $root "pyproject.toml"
    if ((Test-Path $project) -and (Select-String -Path $project -Pattern '^name = "codelens"' -Quiet)) {
        return $root
    }
    return "codelens"
}

function Get-Installed([string]$Method) {
    switch ($Method) {
        "uv" { return Join-Path (& uv tool dir --bin) "codelens.exe" }
        "pipx" { return Join-Path (& pipx environment --value PIPX_BIN_DIR) "codelens.exe" }
        default { return Join-Path $data "venv\Scripts\codelens.exe" }
    }
}

function Install-Codelens {
    $python = Find-Python
    $source = $From
    if (-not $source) { $source = Get-OwnCheckout }
    $method = "venv"
    if (Test-Command "uv") { $method = "uv" } elseif (Test-Command "pipx") { $method = "pipx" }
    New-Item -ItemType Directory -Force -Path $data | Out-Null
    Set-Content -Path $record -Value $method
    switch ($method) {
        "uv" { & uv tool install --quiet --force --python $python $source }
        "pipx" { & pipx install --quiet --force --python $python $source }
        default {
            $venv = Join-Path $data "venv"
            & $python -m venv --clear $venv
            Assert-Done "creating a venv"
            & (Join-Path $venv "Scripts\python.exe") -m pip install --quiet --disable-pip-version-check $source
        }
    }
    Assert-Done "installing $source with $method"
    $command = Get-Installed $method
    & $command --version
    $folder = Split-Path -Parent $command
    if (($env:PATH -split ";") -notcontains $folder) {
        Write-Output "$folder is not on your PATH; add it to type ``codelens``"
    }
    # With the command on PATH, the agents are configured to start it: it outlives its environment.
    $env:PATH = "$folder;$env:PATH"
    if (-not $NoAgents) { & $command install @Rest }
}

function Uninstall-Codelens {
    $method = "venv"
    if (Test-Path $record) { $method = (Get-Content $record).Trim() }
    $command = Get-Installed $method
    if (Test-Path $command) { & $command uninstall --yes @Rest } else { Write-Output "no codelens at $command" }
    switch ($method) {
        "uv" { & uv tool uninstall --quiet codelens }
        "pipx" { & pipx uninstall --quiet codelens }
        default { Remove-Item -Recurse -Force (Join-Path $data "venv") -ErrorAction SilentlyContinue }
    }
    Remove-Item -Force $record -ErrorAction SilentlyContinue
    Write-Output "codelens is uninstalled; indexes and saved contexts stay in its home folder (.codelens)"
}

if ($Uninstall) { Uninstall-Codelens } else { Install-Codelens }
