#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes sure that there are a prometheus and a promtool on PATH: as root on a Debian or Ubuntu it installs those of the
# distribution, elsewhere it says what is missing. A Prometheus that was installed here is not started as a service.
set -euo pipefail

missing() { ! command -v prometheus >/dev/null || ! command -v promtool >/dev/null; }

if missing && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "prometheus is installed from the packages of this system"
    export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
    apt-get install -qq -y --no-install-recommends prometheus >/dev/null 2>&1 || {
        apt-get update -qq
        apt-get install -qq -y --no-install-recommends prometheus >/dev/null
    }
fi
if missing; then
    echo "prometheus or promtool is not on PATH: the tests that need them are skipped, and fail where CI is set." >&2
    echo "On Debian and Ubuntu: apt-get install prometheus" >&2
fi
