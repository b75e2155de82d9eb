#!/usr/bin/env bash
# Builds pairwave for Bioconda. Its commands have been tried outside of conda, but conda-build has not run it yet.
set -euo pipefail

cargo-bundle-licenses --format yaml --output THIRDPARTY.yml
cargo install --path . --bin pairwave --locked --no-track --root "$PREFIX"

# A program for another processor cannot run here.
if [ "${CONDA_BUILD_CROSS_COMPILATION:-0}" != 1 ]; then
    pages=$PREFIX/share/man/man1
    bash=$PREFIX/share/bash-completion/completions
    zsh=$PREFIX/share/zsh/site-functions
    fish=$PREFIX/share/fish/vendor_completions.d
    mkdir -p "$bash" "$zsh" "$fish"
    "$PREFIX/bin/pairwave" man "$pages"
    "$PREFIX/bin/pairwave" completions bash >"$bash/pairwave"
    "$PREFIX/bin/pairwave" completions zsh >"$zsh/_pairwave"
    "$PREFIX/bin/pairwave" completions fish >"$fish/pairwave.fish"
fi
