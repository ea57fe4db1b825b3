package tidegate;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.IOException;
import java.io.StringWriter;
import java.math.BigInteger;
import java.time.Instant;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.api.java.UDF1;
import org.sparkproject.spark_core.protobuf.ByteString;
import org.sparkproject.spark_core.protobuf.CodedInputStream;
import org.sparkproject.spark_core.protobuf.DescriptorProtos.FileDescriptorProto;
import org.sparkproject.spark_core.protobuf.DescriptorProtos.FileDescriptorSet;
import org.sparkproject.spark_core.protobuf.Descriptors.Descriptor;
import org.sparkproject.spark_core.protobuf.Descriptors.DescriptorValidationException;
import org.sparkproject.spark_core.protobuf.Descriptors.EnumValueDescriptor;
import org.sparkproject.spark_core.protobuf.Descriptors.FieldDescriptor;
import org.sparkproject.spark_core.protobuf.Descriptors.FileDescriptor;
import org.sparkproject.spark_core.protobuf.DynamicMessage;
import org.sparkproject.spark_core.protobuf.InvalidProtocolBufferException;
import org.sparkproject.spark_core.protobuf.Message;
import org.sparkproject.spark_core.protobuf.MessageLite;

/**
 * The bytes of a Protobuf message -> its JSON text; null where they are no message of the type.
 *
 * Compiled by Janino when it is first needed, so its Java is old: no lambdas, and what comes out
 * of a collection is cast.
 */
public final class ProtobufJson implements UDF1 {
  private static final int KNOWN_MAX = 500;
  private static final int HEAD_BYTES = 5;
  private static final int PATH_MAX = 100;
  private static final int TEXT_MAX = 64 * 1024 * 1024;
  private static final long TIMESTAMP_MIN_S = -62135596800L;
  private static final long TIMESTAMP_MAX_S = 253402300799L;
  private static final long DURATION_MAX_S = 315576000000L;
  private static final int NANOS = 1000000000;
  private static final JsonFactory JSON =
      (JsonFactory) JsonFactory.builder().enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER).build();

  /** A set's key -> the last of its files, which has the messages; the eldest goes. */
  private static final Map KNOWN = new LinkedHashMap();

  private final String key;
  private final byte[] files;
  private final String message;
  private transient FileDescriptor file;
  private transient Descriptor type;

  /**
   * @param key what tells this set of files from others
   * @param files a FileDescriptorSet, each file behind those that it imports
   * @param message full name of a message of the last file; empty: each record begins with five
   *     bytes and the place of its message there, as registries have it
   */
  public ProtobufJson(String key, byte[] files, String message)
      throws IOException, DescriptorValidationException {
    this.key = key;
    this.files = files;
    this.message = message;
    load();
  }

  public Object call(Object value) throws Exception {
    if (value == null) {
      return null;
    }
    if (file == null) {
      load();
    }
    Message read = message((byte[]) value);
    try {
      return read == null ? null : text(read);
    } catch (InvalidProtocolBufferException tooLong) {
      return null;
    }
  }

  /** A message, or null: what the library cannot read, however it says so, is none. */
  private Message message(byte[] bytes) {
    try {
      int begin = 0;
      Descriptor own = type;
      if (message.isEmpty()) {
        CodedInputStream head =
            CodedInputStream.newInstance(bytes, HEAD_BYTES, bytes.length - HEAD_BYTES);
        own = placed(head);
        begin = HEAD_BYTES + head.getTotalBytesRead();
      }
      if (own == null) {
        return null;
      }
      MessageLite.Builder builder = DynamicMessage.newBuilder(own);
      builder.mergeFrom(bytes, begin, bytes.length - begin);
      return builder.isInitialized() ? (Message) builder.build() : null;
    } catch (IOException broken) {
      return null;
    } catch (RuntimeException broken) {
      return null;
    }
  }

  private void load() throws IOException, DescriptorValidationException {
    synchronized (KNOWN) {
      file = (FileDescriptor) KNOWN.get(key);
      if (file == null) {
        file = read(files);
        KNOWN.put(key, file);
        if (KNOWN.size() > KNOWN_MAX) {
          KNOWN.remove(KNOWN.keySet().iterator().next());
        }
      }
    }
    type = message.isEmpty() ? null : named(file, message);
  }

  private static FileDescriptor read(byte[] files)
      throws IOException, DescriptorValidationException {
    Map built = new HashMap();
    FileDescriptor last = null;
    Iterator each = FileDescriptorSet.parseFrom(files).getFileList().iterator();
    while (each.hasNext()) {
      FileDescriptorProto told = (FileDescriptorProto) each.next();
      FileDescriptor[] imports = new FileDescriptor[told.getDependencyCount()];
      for (int n = 0; n < imports.length; n++) {
        imports[n] = (FileDescriptor) built.get(told.getDependency(n));
      }
      last = FileDescriptor.buildFrom(told, imports);
      built.put(told.getName(), last);
    }
    return last;
  }

  private static Descriptor named(FileDescriptor file, String name) {
    String space = file.getPackage();
    String[] parts = name.substring(space.isEmpty() ? 0 : space.length() + 1).split("\\.");
    Descriptor found = file.findMessageTypeByName(parts[0]);
    for (int n = 1; n < parts.length && found != null; n++) {
      found = found.findNestedTypeByName(parts[n]);
    }
    if (found == null) {
      throw new IllegalArgumentException(name + " is not in " + file.getName());
    }
    return found;
  }

  /** Reads where in the file a message stands: 0 for the first one, or how many steps, and each. */
  private Descriptor placed(CodedInputStream head) throws IOException {
    int steps = head.readSInt32();
    if (steps < 0 || steps > PATH_MAX) {
      return null;
    }
    List types = file.getMessageTypes();
    Descriptor found = null;
    for (int n = 0; n < Math.max(1, steps); n++) {
      int index = steps == 0 ? 0 : head.readSInt32();
      if (index < 0 || index >= types.size()) {
        return null;
      }
      found = (Descriptor) types.get(index);
      types = found.getNestedTypes();
    }
    return found;
  }

  private static String text(Message message) throws IOException {
    StringWriter held = new StringWriter();
    JsonGenerator json = JSON.createGenerator(held);
    new Writer(json, held.getBuffer()).object(message);
    json.close();
    return held.toString();
  }

  /** Writes one message; NaN and the infinities become texts, as the generator does by itself. */
  private static final class Writer {
    private final JsonGenerator json;
    private final StringBuffer written;

    Writer(JsonGenerator json, StringBuffer written) {
      this.json = json;
      this.written = written;
    }

    /** The fields that are set, by number; a message without presence for a field sets no zero. */
    void object(Message message) throws IOException {
      json.writeStartObject();
      Iterator each = message.getAllFields().entrySet().iterator();
      while (each.hasNext()) {
        Map.Entry entry = (Map.Entry) each.next();
        FieldDescriptor field = (FieldDescriptor) entry.getKey();
        json.writeFieldName(field.getJsonName());
        if (field.isMapField()) {
          map(field, (List) entry.getValue());
        } else if (field.isRepeated()) {
          list(field, (List) entry.getValue());
        } else {
          one(field, entry.getValue());
        }
      }
      json.writeEndObject();
    }

    private void list(FieldDescriptor field, List values) throws IOException {
      json.writeStartArray();
      Iterator each = values.iterator();
      while (each.hasNext()) {
        one(field, each.next());
      }
      json.writeEndArray();
    }

    /** The last value of a key counts; sorted, since the order of a map's entries says nothing. */
    private void map(FieldDescriptor field, List entries) throws IOException {
      FieldDescriptor key = field.getMessageType().findFieldByNumber(1);
      FieldDescriptor value = field.getMessageType().findFieldByNumber(2);
      Map sorted = new TreeMap();
      Iterator each = entries.iterator();
      while (each.hasNext()) {
        Message entry = (Message) each.next();
        sorted.put(name(key, entry.getField(key)), entry.getField(value));
      }
      json.writeStartObject();
      each = sorted.entrySet().iterator();
      while (each.hasNext()) {
        Map.Entry entry = (Map.Entry) each.next();
        json.writeFieldName((String) entry.getKey());
        one(value, entry.getValue());
      }
      json.writeEndObject();
    }

    private static String name(FieldDescriptor key, Object value) {
      if (key.getType() == FieldDescriptor.Type.UINT64
          || key.getType() == FieldDescriptor.Type.FIXED64) {
        return Long.toUnsignedString(((Long) value).longValue());
      }
      if (key.getType() == FieldDescriptor.Type.UINT32
          || key.getType() == FieldDescriptor.Type.FIXED32) {
        return Integer.toUnsignedString(((Integer) value).intValue());
      }
      return value.toString();
    }

    private void one(FieldDescriptor field, Object value) throws IOException {
      if (written.length() > TEXT_MAX) {
        throw new InvalidProtocolBufferException("its text is too long");
      }
      FieldDescriptor.Type type = field.getType();
      if (type == FieldDescriptor.Type.MESSAGE || type == FieldDescriptor.Type.GROUP) {
        message((Message) value);
      } else if (type == FieldDescriptor.Type.STRING) {
        json.writeString((String) value);
      } else if (type == FieldDescriptor.Type.BYTES) {
        json.writeBinary(((ByteString) value).toByteArray());
      } else if (type == FieldDescriptor.Type.ENUM) {
        symbol((EnumValueDescriptor) value);
      } else if (type == FieldDescriptor.Type.BOOL) {
        json.writeBoolean(((Boolean) value).booleanValue());
      } else if (type == FieldDescriptor.Type.DOUBLE) {
        json.writeNumber(((Double) value).doubleValue());
      } else if (type == FieldDescriptor.Type.FLOAT) {
        json.writeNumber(((Float) value).floatValue());
      } else if (type == FieldDescriptor.Type.UINT32 || type == FieldDescriptor.Type.FIXED32) {
        json.writeNumber(Integer.toUnsignedLong(((Integer) value).intValue()));
      } else if (type == FieldDescriptor.Type.UINT64 || type == FieldDescriptor.Type.FIXED64) {
        unsigned(((Long) value).longValue());
      } else if (value instanceof Integer) {
        json.writeNumber(((Integer) value).intValue());
      } else {
        json.writeNumber(((Long) value).longValue());
      }
    }

    private void unsigned(long value) throws IOException {
      if (value >= 0) {
        json.writeNumber(value);
      } else {
        json.writeNumber(new BigInteger(Long.toUnsignedString(value)));
      }
    }

    private void symbol(EnumValueDescriptor value) throws IOException {
      if ("google.protobuf.NullValue".equals(value.getType().getFullName())) {
        json.writeNull();
      } else {
        json.writeString(value.getName());
      }
    }

    /** A message within another; what google.protobuf declares for all has a form of its own. */
    private void message(Message message) throws IOException {
      Descriptor type = message.getDescriptorForType();
      String name = type.getFullName();
      if (!name.startsWith("google.protobuf.")) {
        object(message);
      } else if (type.getFile().getName().equals("google/protobuf/wrappers.proto")) {
        FieldDescriptor field = type.findFieldByNumber(1);
        one(field, message.getField(field));
      } else if (name.equals("google.protobuf.Timestamp")) {
        timestamp(message, number(message, 1), number(message, 2));
      } else if (name.equals("google.protobuf.Duration")) {
        duration(message, number(message, 1), number(message, 2));
      } else if (name.equals("google.protobuf.FieldMask")) {
        mask((List) message.getField(type.findFieldByNumber(1)));
      } else if (name.equals("google.protobuf.Struct")) {
        FieldDescriptor fields = type.findFieldByNumber(1);
        map(fields, (List) message.getField(fields));
      } else if (name.equals("google.protobuf.ListValue")) {
        FieldDescriptor values = type.findFieldByNumber(1);
        list(values, (List) message.getField(values));
      } else if (name.equals("google.protobuf.Value")) {
        kind(message);
      } else {
        object(message);
      }
    }

    private void kind(Message value) throws IOException {
      Iterator each = value.getAllFields().entrySet().iterator();
      if (each.hasNext()) {
        Map.Entry entry = (Map.Entry) each.next();
        one((FieldDescriptor) entry.getKey(), entry.getValue());
      } else {
        json.writeNull();
      }
    }

    private static long number(Message message, int field) {
      Object value = message.getField(message.getDescriptorForType().findFieldByNumber(field));
      return ((Number) value).longValue();
    }

    /** RFC 3339, as far as its years go; a moment that is none stays an object. */
    private void timestamp(Message message, long seconds, long nanos) throws IOException {
      boolean fits = seconds >= TIMESTAMP_MIN_S && seconds <= TIMESTAMP_MAX_S;
      if (!fits || nanos < 0 || nanos >= NANOS) {
        object(message);
        return;
      }
      String whole = Instant.ofEpochSecond(seconds).toString();
      json.writeString(whole.substring(0, whole.length() - 1) + fraction(nanos) + "Z");
    }

    private void duration(Message message, long seconds, long nanos) throws IOException {
      boolean fits = seconds >= -DURATION_MAX_S && seconds <= DURATION_MAX_S;
      fits = fits && nanos > -NANOS && nanos < NANOS;
      if (!fits || (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0)) {
        object(message);
        return;
      }
      String sign = seconds < 0 || nanos < 0 ? "-" : "";
      json.writeString(sign + Math.abs(seconds) + fraction(Math.abs(nanos)) + "s");
    }

    /** Nothing, or a point and three, six or nine digits. */
    private static String fraction(long nanos) {
      if (nanos == 0) {
        return "";
      }
      String digits = Long.toString(NANOS + nanos).substring(1);
      int kept = nanos % 1000000 == 0 ? 3 : nanos % 1000 == 0 ? 6 : 9;
      return "." + digits.substring(0, kept);
    }

    /** Names in lower camel case, with commas between paths. */
    private void mask(List paths) throws IOException {
      StringBuilder told = new StringBuilder();
      Iterator each = paths.iterator();
      while (each.hasNext()) {
        String path = (String) each.next();
        if (path.isEmpty()) {
          continue;
        }
        if (told.length() > 0) {
          told.append(',');
        }
        boolean upper = false;
        for (int n = 0; n < path.length(); n++) {
          char c = path.charAt(n);
          if (c == '_') {
            upper = true;
          } else {
            told.append(upper ? Character.toUpperCase(c) : c);
            upper = false;
          }
        }
      }
      json.writeString(told.toString());
    }
  }
}
