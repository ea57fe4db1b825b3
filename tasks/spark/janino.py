"""Our Java sources, compiled inside Spark's JVM by Janino, the compiler of Spark's plans."""

from importlib.resources import files

from py4j.java_gateway import JavaObject, JVMView


def compiled(jvm: JVMView, package: str, source: str) -> JavaObject:
    """Return Janino's compiler after it has compiled `java/<source>` of a package of ours.

    `getClassLoader()` of the result has the classes, `getBytecodes()` their code.

    Raises:
        Py4JError: the JVM is gone.
    """
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook((files(package) / "java" / source).read_text())
    return compiler
