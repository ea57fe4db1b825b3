package tidegate;

import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.connector.catalog.FunctionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What is asked of the bytes of every text, eight of them at a time: a catalog of Spark.
 *
 * Spark's own functions look at one byte at a time.  It calls `invoke` in the code that it compiles
 * a plan into, without an object or a copy.  Compiled by Janino when it is first needed.
 */
public final class TextFunctions implements FunctionCatalog {
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long LOW_BITS = 0x0101010101010101L;
  private static final int BRACE = '}';
  private static final int LINE_FEED = '\n';
  private static final int CARRIAGE_RETURN = '\r';
  private static final int QUOTE = '"';
  private static final int BACKSLASH = '\\';
  private static final int ESCAPE_SIZE = 6;

  private String name;

  public void initialize(String given, CaseInsensitiveStringMap options) {
    name = given;
  }

  public String name() {
    return name;
  }

  /** None: who lists functions is to find Spark's; and Janino cannot make an `Identifier`. */
  public Identifier[] listFunctions(String[] namespace) {
    return new Identifier[0];
  }

  public UnboundFunction loadFunction(Identifier wanted) throws NoSuchFunctionException {
    if (wanted.name().equals("is_utf8")) {
      return new IsUtf8();
    }
    if (wanted.name().equals("ends_flat")) {
      return new EndsFlat();
    }
    if (wanted.name().equals("is_plain_line")) {
      return new IsPlainLine();
    }
    if (wanted.name().equals("is_json_text")) {
      return new IsJsonText();
    }
    throw new NoSuchFunctionException(wanted);
  }

  /** Tell whether one of eight bytes is `sign`, an ASCII one. */
  private static boolean has(long eight, int sign) {
    // A byte of `other` is 0 where one of the eight is the sign, and only then one borrows.
    long other = eight ^ (LOW_BITS * sign);
    return ((other - LOW_BITS) & ~other & HIGH_BITS) != 0;
  }

  /** Of one text, true or false. */
  public abstract static class OfText implements UnboundFunction, ScalarFunction {
    public BoundFunction bind(StructType given) {
      if (given.size() != 1) {
        throw new UnsupportedOperationException(name() + " takes one text");
      }
      return this;
    }

    public DataType[] inputTypes() {
      return new DataType[] {DataTypes.StringType};
    }

    public DataType resultType() {
      return DataTypes.BooleanType;
    }

    public boolean isResultNullable() {
      return false;
    }

    public String canonicalName() {
      return "tidegate." + name();
    }
  }

  /** Whether a text is well-formed, as `is_valid_utf8` says; null is. */
  public static final class IsUtf8 extends OfText {
    public String name() {
      return "is_utf8";
    }

    public String description() {
      return "is_utf8(text): as is_valid_utf8, faster where a text is ASCII; true of null";
    }

    public static boolean invoke(UTF8String text) {
      if (text == null) {
        return true;
      }
      Object held = text.getBaseObject();
      long at = text.getBaseOffset();
      long end = at + text.numBytes();
      for (; at + 8 <= end; at += 8) {
        if ((Platform.getLong(held, at) & HIGH_BITS) != 0) {
          return text.isValid();
        }
      }
      for (; at < end; at++) {
        if (Platform.getByte(held, at) < 0) {
          return text.isValid();
        }
      }
      return true;
    }
  }

  /** Whether the last byte of a text is a closing brace, and no other one is. */
  public static final class EndsFlat extends OfText {
    public String name() {
      return "ends_flat";
    }

    public String description() {
      return "ends_flat(text): its one closing brace is its last byte; false of null";
    }

    public static boolean invoke(UTF8String text) {
      if (text == null || text.numBytes() == 0) {
        return false;
      }
      Object held = text.getBaseObject();
      long at = text.getBaseOffset();
      long last = at + text.numBytes() - 1;
      if (Platform.getByte(held, last) != BRACE) {
        return false;
      }
      for (; at + 8 <= last; at += 8) {
        if (has(Platform.getLong(held, at), BRACE)) {
          return false;
        }
      }
      for (; at < last; at++) {
        if (Platform.getByte(held, at) == BRACE) {
          return false;
        }
      }
      return true;
    }
  }

  /** Whether a text is a line that nothing is to be asked of: most are. */
  public static final class IsPlainLine extends OfText {
    public String name() {
      return "is_plain_line";
    }

    public String description() {
      return "is_plain_line(text): well-formed, begins with what is seen, has no line break and no "
          + "double quote; false of null";
    }

    public static boolean invoke(UTF8String text) {
      if (text == null || text.numBytes() == 0) {
        return false;
      }
      Object held = text.getBaseObject();
      long at = text.getBaseOffset();
      long end = at + text.numBytes();
      if ((Platform.getByte(held, at) & 0xFF) <= ' ') {
        return false;
      }
      long all = 0;
      for (; at + 8 <= end; at += 8) {
        long eight = Platform.getLong(held, at);
        if (has(eight, LINE_FEED) || has(eight, CARRIAGE_RETURN) || has(eight, QUOTE)) {
          return false;
        }
        all |= eight;
      }
      for (; at < end; at++) {
        byte one = Platform.getByte(held, at);
        if (one == LINE_FEED || one == CARRIAGE_RETURN || one == QUOTE) {
          return false;
        }
        all |= one;  // a negative one keeps its sign: the highest bit of all
      }
      return (all & HIGH_BITS) == 0 || text.isValid();
    }
  }

  /** Whether a text is well-formed, and so is each text that it writes with escapes. */
  public static final class IsJsonText extends OfText {
    public String name() {
      return "is_json_text";
    }

    public String description() {
      return "is_json_text(text): as is_utf8, and no escape is half of a surrogate pair";
    }

    public static boolean invoke(UTF8String text) {
      if (text == null) {
        return true;
      }
      Object held = text.getBaseObject();
      long at = text.getBaseOffset();
      long end = at + text.numBytes();
      boolean escapes = false;
      long all = 0;
      for (; at + 8 <= end; at += 8) {
        long eight = Platform.getLong(held, at);
        escapes |= has(eight, BACKSLASH);
        all |= eight;
      }
      for (; at < end; at++) {
        byte one = Platform.getByte(held, at);
        escapes |= one == BACKSLASH;
        all |= one;  // a negative one keeps its sign: the highest bit of all
      }
      if ((all & HIGH_BITS) != 0 && !text.isValid()) {
        return false;
      }
      return !escapes || pairsAreWhole(held, text.getBaseOffset(), end);
    }

    private static boolean pairsAreWhole(Object held, long at, long end) {
      boolean opened = false;
      while (at < end) {
        int unit = 0;
        long next = at + 1;
        if (Platform.getByte(held, at) == BACKSLASH) {
          next = at + 2;
          if (at + ESCAPE_SIZE <= end && Platform.getByte(held, at + 1) == 'u') {
            unit = unitOf(held, at + 2);
            next = unit < 0 ? next : at + ESCAPE_SIZE;
          }
        }
        if (opened != (unit >= 0xDC00 && unit <= 0xDFFF)) {
          return false;
        }
        opened = unit >= 0xD800 && unit <= 0xDBFF;
        at = next;
      }
      return !opened;
    }

    /** Return what four hexadecimal digits write; -1 where they are none. */
    private static int unitOf(Object held, long at) {
      int unit = 0;
      for (long end = at + 4; at < end; at++) {
        int digit = Character.digit((char) Platform.getByte(held, at), 16);
        if (digit < 0) {
          return -1;
        }
        unit = unit * 16 + digit;
      }
      return unit;
    }
  }
}
