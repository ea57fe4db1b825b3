package tidegate;

import java.lang.reflect.Field;
import java.util.Map;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.atn.ParserATNSimulator;
import org.antlr.v4.runtime.atn.PredictionContextCache;
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer;
import org.apache.spark.sql.catalyst.parser.SqlBaseParser;

/**
 * What Spark's SQL parser remembers of the statements it has read, and a way to make it forget.
 *
 * All parsers of a JVM share it.  Compiled by Janino, so its Java is old.
 */
public final class ParserMemory {
  private final SqlBaseParser parser;

  public ParserMemory() {
    CommonTokenStream nothing =
        new CommonTokenStream(new SqlBaseLexer(CharStreams.fromString("")));
    parser = new SqlBaseParser(nothing);
    parser.setProfile(true); // only such a parser counts the states; it never parses
  }

  /** @return how many states of the grammar's decisions are remembered */
  public int states() {
    return parser.getParseInfo().getDFASize();
  }

  /** @return the JVM's largest heap, in bytes */
  public long heap() {
    return Runtime.getRuntime().maxMemory();
  }

  /** Forget all; parsers that are at work go on with what they hold. */
  public void forget() throws ReflectiveOperationException {
    ParserATNSimulator simulator = (ParserATNSimulator) parser.getInterpreter();
    simulator.clearDFA();
    PredictionContextCache contexts = simulator.getSharedContextCache();
    Field held = PredictionContextCache.class.getDeclaredField("cache");
    held.setAccessible(true);
    synchronized (contexts) { // as each parser does to look something up
      ((Map) held.get(contexts)).clear();
    }
  }
}
