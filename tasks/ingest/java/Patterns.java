package tidegate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
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
 * Patterns of users, matched in bounded time: a catalog of Spark.
 *
 * A regular expression is Java's own, over a text that counts how often it is looked at.  LIKE has
 * a matcher of its own, which never tries another length for a part that fits.  Both end with the
 * Spark task that they work for, which Java's matcher alone does not.
 * Compiled by Janino when it is first needed.
 */
public final class Patterns implements FunctionCatalog {
  /** The word by which a worker knows the failure; `failures.py` has it too. */
  private static final String TOO_MANY = "TIDEGATE_PATTERN_STEPS";

  private static final long STEPS_MAX = 200000000L;
  private static final long STEPS_EACH = 100L;

  /** Steps between two looks at whether the Spark task has been cancelled. */
  private static final int SLICE = 1 << 16;

  private static final int KEPT_MAX = 1000;
  private static final int ANY_ONE = -1;
  private static final ConcurrentHashMap REGEXES = new ConcurrentHashMap();
  private static final ConcurrentHashMap LIKES = new ConcurrentHashMap();

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
    if (wanted.name().equals("is_like")) {
      return new IsLike();
    }
    if (wanted.name().equals("has_match")) {
      return new HasMatch();
    }
    if (wanted.name().equals("group_of")) {
      return new GroupOf();
    }
    if (wanted.name().equals("replaced")) {
      return new Replaced();
    }
    if (wanted.name().equals("split_at")) {
      return new SplitAt();
    }
    throw new NoSuchFunctionException(wanted);
  }

  /** Of a text and a pattern, and perhaps one thing more; null of null. */
  public abstract static class OfPattern implements UnboundFunction, ScalarFunction {
    public BoundFunction bind(StructType given) {
      if (given.size() != inputTypes().length) {
        throw new UnsupportedOperationException(name() + " takes " + inputTypes().length);
      }
      return this;
    }

    public DataType[] inputTypes() {
      return new DataType[] {DataTypes.StringType, DataTypes.StringType};
    }

    public DataType resultType() {
      return DataTypes.BooleanType;
    }

    public boolean isResultNullable() {
      return true;
    }

    public String canonicalName() {
      return "tidegate.patterns." + name();
    }
  }

  /** Whether a text is like a pattern of %, _ and the escape \. */
  public static final class IsLike extends OfPattern {
    public String name() {
      return "is_like";
    }

    public String description() {
      return "is_like(text, pattern): as LIKE, in a time that no pattern makes long";
    }

    public static Boolean invoke(UTF8String text, UTF8String pattern) {
      if (text == null || pattern == null) {
        return null;
      }
      return Boolean.valueOf(like(pattern).matches(text));
    }
  }

  /** Whether a regular expression is found in a text. */
  public static final class HasMatch extends OfPattern {
    public String name() {
      return "has_match";
    }

    public String description() {
      return "has_match(text, pattern): as RLIKE";
    }

    public static Boolean invoke(UTF8String text, UTF8String pattern) {
      if (text == null || pattern == null) {
        return null;
      }
      return Boolean.valueOf(matcher(text, pattern).find());
    }
  }

  /** A group of the first match: empty where it took no part, null where there is no match. */
  public static final class GroupOf extends OfPattern {
    public String name() {
      return "group_of";
    }

    public String description() {
      return "group_of(text, pattern, number): as regexp_extract; null without a match";
    }

    public DataType[] inputTypes() {
      return new DataType[] {DataTypes.StringType, DataTypes.StringType, DataTypes.IntegerType};
    }

    public DataType resultType() {
      return DataTypes.StringType;
    }

    public static UTF8String invoke(UTF8String text, UTF8String pattern, int number) {
      if (text == null || pattern == null) {
        return null;
      }
      Matcher matcher = matcher(text, pattern);
      if (!matcher.find()) {
        return null;
      }
      String group = matcher.group(number);
      return UTF8String.fromString(group == null ? "" : group);
    }
  }

  /** A text with each match replaced. */
  public static final class Replaced extends OfPattern {
    public String name() {
      return "replaced";
    }

    public String description() {
      return "replaced(text, pattern, replacement): as regexp_replace";
    }

    public DataType[] inputTypes() {
      return new DataType[] {DataTypes.StringType, DataTypes.StringType, DataTypes.StringType};
    }

    public DataType resultType() {
      return DataTypes.StringType;
    }

    public static UTF8String invoke(UTF8String text, UTF8String pattern, UTF8String replacement) {
      if (text == null || pattern == null || replacement == null) {
        return null;
      }
      return UTF8String.fromString(matcher(text, pattern).replaceAll(replacement.toString()));
    }
  }

  /** A text, divided at each match; empty ends are kept. */
  public static final class SplitAt extends OfPattern {
    public String name() {
      return "split_at";
    }

    public String description() {
      return "split_at(text, pattern): as split(text, pattern, -1)";
    }

    public DataType resultType() {
      return DataTypes.createArrayType(DataTypes.StringType, false);
    }

    public static ArrayData invoke(UTF8String text, UTF8String pattern) {
      if (text == null || pattern == null) {
        return null;
      }
      if (pattern.numBytes() == 0) {
        return new GenericArrayData((Object[]) text.split(pattern, -1));
      }
      String[] parts = regex(pattern).split(new Counted(text.toString()), -1);
      Object[] held = new Object[parts.length];
      for (int n = 0; n < parts.length; n++) {
        held[n] = UTF8String.fromString(parts[n]);
      }
      return new GenericArrayData(held);
    }
  }

  static Matcher matcher(UTF8String text, UTF8String pattern) {
    return regex(pattern).matcher(new Counted(text.toString()));
  }

  static Pattern regex(UTF8String written) {
    Pattern known = (Pattern) REGEXES.get(written);
    if (known == null) {
      known = Pattern.compile(written.toString());
      keep(REGEXES, written, known);
    }
    return known;
  }

  static Like like(UTF8String written) {
    Like known = (Like) LIKES.get(written);
    if (known == null) {
      known = new Like(written.getBytes());
      keep(LIKES, written, known);
    }
    return known;
  }

  private static void keep(ConcurrentHashMap all, UTF8String written, Object read) {
    if (all.size() >= KEPT_MAX) {
      all.clear();
    }
    all.put(UTF8String.fromString(written.toString()), read);  // a copy: Spark reuses its memory
  }

  /** End the work of a Spark task that has been cancelled. */
  static void endIfCancelled() {
    TaskContext context = TaskContext.get();
    if (context != null && context.isInterrupted()) {
      throw new TaskKilledException("cancelled within a pattern");
    }
  }

  /** A text that counts how often a character of it is read. */
  static final class Counted implements CharSequence {
    private final String text;
    private long left;
    private int slice = SLICE;

    Counted(String given) {
      text = given;
      left = STEPS_MAX + STEPS_EACH * given.length();
    }

    public char charAt(int index) {
      if (--slice == 0) {
        count();
      }
      return text.charAt(index);
    }

    private void count() {
      slice = SLICE;
      left -= SLICE;
      if (left < 0) {
        throw new IllegalStateException(TOO_MANY);
      }
      endIfCancelled();
    }

    public int length() {
      return text.length();
    }

    public CharSequence subSequence(int begin, int end) {
      return text.substring(begin, end);
    }

    public String toString() {
      return text;
    }
  }

  /**
   * A LIKE pattern: its parts between the signs for any text, each of bytes and of ANY_ONE.
   *
   * The first part is at the begin of the text, the last one at its end, each other one at the
   * first place behind the one before it.  A later place could only leave less room for the rest.
   */
  static final class Like {
    private final int[][] parts;

    Like(byte[] pattern) {
      List all = new ArrayList();
      int[] part = new int[pattern.length];
      int size = 0;
      for (int at = 0; at < pattern.length; at++) {
        int sign = pattern[at] & 0xFF;
        if (sign == '%') {
          all.add(Arrays.copyOf(part, size));
          size = 0;
        } else if (sign == '_') {
          part[size++] = ANY_ONE;
        } else {
          if (sign == '\\' && at + 1 < pattern.length) {
            sign = pattern[++at] & 0xFF;
          }
          part[size++] = sign;
        }
      }
      all.add(Arrays.copyOf(part, size));
      parts = new int[all.size()][];
      for (int n = 0; n < parts.length; n++) {
        parts[n] = (int[]) all.get(n);
      }
    }

    boolean matches(UTF8String text) {
      Object held = text.getBaseObject();
      long begin = text.getBaseOffset();
      long end = begin + text.numBytes();
      int last = parts.length - 1;
      long at = behind(parts[0], held, begin, end);
      if (last == 0 || at < 0) {
        return at == end;
      }
      end = before(parts[last], held, at, end);
      for (int n = 1; n < last && end >= 0 && at >= 0; n++) {
        at = behindNext(parts[n], held, at, end);
      }
      return end >= 0 && at >= 0;
    }

    /** Return the end of a part that begins at a place, or -1. */
    private static long behind(int[] part, Object held, long at, long end) {
      for (int n = 0; n < part.length; n++) {
        if (at >= end || (part[n] != ANY_ONE && part[n] != (Platform.getByte(held, at) & 0xFF))) {
          return -1;
        }
        at = part[n] == ANY_ONE ? next(held, at, end) : at + 1;
      }
      return at;
    }

    /** Return the begin of a part that ends at a place, or -1. */
    private static long before(int[] part, Object held, long begin, long at) {
      for (int n = part.length - 1; n >= 0; n--) {
        if (at <= begin) {
          return -1;
        }
        at--;
        while (part[n] == ANY_ONE && at > begin && continues(held, at)) {
          at--;
        }
        if (part[n] != ANY_ONE && part[n] != (Platform.getByte(held, at) & 0xFF)) {
          return -1;
        }
      }
      return at;
    }

    /** Return the end of a part at the first place from `at` on where it is, or -1. */
    private static long behindNext(int[] part, Object held, long at, long end) {
      int slice = SLICE;
      while (at <= end) {
        long behind = behind(part, held, at, end);
        if (behind >= 0) {
          return behind;
        }
        at = at < end ? next(held, at, end) : end + 1;
        if (--slice == 0) {
          slice = SLICE;
          endIfCancelled();
        }
      }
      return -1;
    }

    /** Return the place of the next character. */
    private static long next(Object held, long at, long end) {
      at++;
      while (at < end && continues(held, at)) {
        at++;
      }
      return at;
    }

    private static boolean continues(Object held, long at) {
      return (Platform.getByte(held, at) & 0xC0) == 0x80;
    }
  }
}
