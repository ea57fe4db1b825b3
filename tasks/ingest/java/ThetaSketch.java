package tidegate;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import org.apache.datasketches.memory.Memory;
import org.apache.datasketches.theta.CompactSketch;
import org.apache.datasketches.theta.SetOperation;
import org.apache.datasketches.theta.Sketches;
import org.apache.datasketches.theta.Union;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.expressions.Aggregator;

/**
 * Texts -> a compact theta sketch of those that differ; nulls and empty texts are no values.
 *
 * Compiled by Janino when it is first needed, so its Java is old: no generics.
 */
public final class ThetaSketch extends Aggregator {
  private final int logOfSize;

  /** @param logOfSize binary logarithm of how many hashes are kept before it becomes an estimate */
  public ThetaSketch(int logOfSize) {
    this.logOfSize = logOfSize;
  }

  public Object zero() {
    return new Held(logOfSize);
  }

  public Object reduce(Object held, Object text) {
    ((Held) held).union.update((String) text);
    return held;
  }

  public Object merge(Object held, Object other) {
    ((Held) held).union.union(((Held) other).sketch());
    return held;
  }

  public Object finish(Object held) {
    return ((Held) held).sketch().toByteArray();
  }

  public Encoder bufferEncoder() {
    return Encoders.javaSerialization(Held.class);
  }

  public Encoder outputEncoder() {
    return Encoders.BINARY();
  }

  /** What a group has met so far; it crosses from one task to another as a compact sketch. */
  public static final class Held implements Externalizable {
    private static final long serialVersionUID = 1L;

    private int logOfSize;
    private Union union;

    /** For what reads it back. */
    public Held() {}

    Held(int logOfSize) {
      begin(logOfSize);
    }

    private void begin(int size) {
      logOfSize = size;
      union = SetOperation.builder().setNominalEntries(1 << size).buildUnion();
    }

    CompactSketch sketch() {
      return union.getResult(true, null);
    }

    public void writeExternal(ObjectOutput out) throws IOException {
      byte[] sketch = sketch().toByteArray();
      out.writeInt(logOfSize);
      out.writeInt(sketch.length);
      out.write(sketch);
    }

    public void readExternal(ObjectInput in) throws IOException {
      begin(in.readInt());
      byte[] sketch = new byte[in.readInt()];
      in.readFully(sketch);
      union.union(Sketches.wrapSketch(memory(sketch)));
    }

    /** `Memory.wrap(bytes)`: Janino calls no static method of an interface. */
    private static Memory memory(byte[] bytes) throws IOException {
      try {
        Class[] taken = new Class[] {byte[].class};
        return (Memory) Memory.class.getMethod("wrap", taken).invoke(null, new Object[] {bytes});
      } catch (ReflectiveOperationException other) {
        throw new IOException(other);
      }
    }
  }
}
