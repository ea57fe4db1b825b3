"""Log4j configuration of a worker's JVM: one file, for its owner only, with secrets masked.

The JVM writes the log itself, and may fail in ways that Python does not see.  So the JVM's own
layout has the patterns of `tasks.contract.masking`, for messages and stack traces alike.
"""

from tasks.contract.masking import PATTERNS

CONFIGURATION_NAME = "tidegate-log4j2.properties"
"""File name of the configuration, in the JVM's working folder."""

# Spark's own layout.  Source: org/apache/spark/log4j2-defaults.properties of Spark 4.0.0.
_BEGIN, _MESSAGE, _TRACE = "%d{yy/MM/dd HH:mm:ss} %p %c{1}: ", "%m", "%ex"
_QUIET = {
    "org.sparkproject.jetty": "warn",
    "org.sparkproject.jetty.util.component.AbstractLifeCycle": "error",
    "org.apache.parquet.CorruptStatistics": "error",
    "parquet.CorruptStatistics": "error",
}


def configuration() -> str:
    """Return the properties file for Log4j 2."""
    pattern = f"{_BEGIN}{_masked(_MESSAGE)}%n{_masked(_TRACE)}"
    layout = "appender.console.layout"
    held = {
        "rootLogger.level": "info",
        "rootLogger.appenderRef.stdout.ref": "console",
        "appender.console.type": "Console",
        "appender.console.name": "console",
        "appender.console.target": "SYSTEM_ERR",
        f"{layout}.type": "PatternLayout",
        # Otherwise Log4j, which does not see the %ex in a %replace, would write each trace twice.
        f"{layout}.alwaysWriteExceptions": "false",
        f"{layout}.pattern": pattern.replace("\\", "\\\\"),
    }
    for number, (name, level) in enumerate(_QUIET.items()):
        held |= {f"logger.q{number}.name": name, f"logger.q{number}.level": level}
    return "".join(f"{name} = {value}\n" for name, value in held.items())


def _masked(pattern: str) -> str:
    for searched, instead in PATTERNS:
        found = instead.replace("\\1", "$1")
        pattern = f"%replace{{{pattern}}}{{(?is){searched}}}{{{found}}}"
    return pattern
