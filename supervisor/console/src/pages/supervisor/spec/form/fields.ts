/**
 * A field of the form: where it is in the nested form of a spec, below `/spec`.  `title` is for one
 * whose own says too little without its object.
 */
export type FormField = {
  path: string;
  title?: string;
  words?: readonly string[];
  isFixed?: true;
};

export type FormGroup = { title: string; fields: readonly FormField[] };

const GRAINS = [
  "MINUTE",
  "FIFTEEN_MINUTE",
  "HOUR",
  "SIX_HOUR",
  "DAY",
  "WEEK",
  "MONTH",
  "YEAR",
  "ALL",
];
const FORMATS = ["json", "csv", "tsv", "regex", "avro_stream", "protobuf", "kafka"];

/** The fields that people change most, in the order in which a supervisor uses them. */
export const GROUPS: readonly FormGroup[] = [
  {
    title: "Source",
    fields: [
      { path: "/ioConfig/topic", isFixed: true },
      { path: "/ioConfig/consumerProperties/bootstrap.servers", title: "Brokers" },
      { path: "/ioConfig/inputFormat/type", title: "Input format", words: FORMATS },
      { path: "/ioConfig/useEarliestOffset" },
      { path: "/tuningConfig/resetOffsetAutomatically" },
    ],
  },
  {
    title: "Time and columns",
    fields: [
      { path: "/dataSchema/dataSource", isFixed: true },
      { path: "/dataSchema/timestampSpec/column", title: "Column of the time" },
      { path: "/dataSchema/timestampSpec/format", title: "Format of the time" },
      { path: "/dataSchema/timestampSpec/missingValue", title: "Time of records without one" },
      { path: "/dataSchema/dimensionsSpec/dimensions" },
      { path: "/dataSchema/dimensionsSpec/includeAllDimensions" },
      { path: "/dataSchema/granularitySpec/segmentGranularity", words: GRAINS },
      { path: "/dataSchema/granularitySpec/rollup" },
    ],
  },
  {
    title: "Rhythm",
    fields: [
      { path: "/ioConfig/taskCount" },
      { path: "/ioConfig/replicas" },
      { path: "/ioConfig/taskDuration" },
      { path: "/ioConfig/completionTimeout" },
      { path: "/ioConfig/stopTaskCount" },
      { path: "/ioConfig/lateMessageRejectionPeriod" },
      { path: "/ioConfig/earlyMessageRejectionPeriod" },
    ],
  },
  {
    title: "Bad records",
    fields: [
      { path: "/tuningConfig/badRecords", words: ["quarantine", "drop", "warn", "fail"] },
      { path: "/tuningConfig/unfitValues", words: ["null", "quarantine"] },
      { path: "/tuningConfig/maxParseExceptions" },
    ],
  },
  {
    title: "Tuning",
    fields: [
      { path: "/tuningConfig/maxRowsPerSegment" },
      { path: "/tuningConfig/maxTotalRows" },
      { path: "/tuningConfig/targetSegmentBytes" },
      { path: "/tuningConfig/batchTarget" },
      { path: "/tuningConfig/linger" },
    ],
  },
];

/** The places of all fields of the form, in their order. */
export const PATHS: readonly string[] = GROUPS.flatMap(({ fields }) =>
  fields.map(({ path }) => path),
);
