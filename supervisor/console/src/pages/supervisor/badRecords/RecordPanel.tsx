import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "@/api/client";
import type { Problem } from "@/api/problem";
import { Command } from "@/components/Command";
import { Copy } from "@/components/Copy";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { QueryView } from "@/components/QueryView";
import { SidePanel } from "@/components/SidePanel";
import { exact } from "@/text/numbers";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import classes from "./BadRecords.module.css";
import { type Part, shownAs } from "./bytes";
import { SentAt } from "./columns";
import type { BadRecord } from "./quarantine";
import { FORMS, type Form, type RecordPlace, recordOf } from "./search";
import { Trial } from "./Trial";

const PATH = "/api/v1/supervisors/{supervisor_id}/quarantine/{topic}/{partition}/{offset}" as const;

type Props = {
  id: string;
  record: string;
  form: Form;
  /** The newest spec; undefined: not known. */
  spec: unknown;
  onForm: (form: Form) => void;
  onClose: () => void;
};

/** One record whole, as it was sent, and what today's spec makes of it. */
export function RecordPanel({ id, record, form, spec, onForm, onClose }: Props) {
  const place = recordOf(record);
  return (
    <SidePanel title={<Foreign>{`Record ${record}`}</Foreign>} onClose={onClose}>
      {place === null ? (
        <p>It is no record: an address names one as topic:partition:offset.</p>
      ) : (
        <Whole key={record} id={id} place={place} form={form} spec={spec} onForm={onForm} />
      )}
    </SidePanel>
  );
}

type WholeProps = Omit<Props, "record" | "onClose"> & { place: RecordPlace };

function Whole({ id, place, form, spec, onForm }: WholeProps) {
  const { topic, partition, offset } = place;
  const query = useQuery<BadRecord, Problem>({
    queryKey: ["quarantined", id, topic, partition, offset],
    queryFn: ({ signal }) => {
      const path = { supervisor_id: id, topic, partition, offset: BigInt(offset) };
      return get(PATH, { path: path as unknown as typeof path & { offset: number } }, signal);
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  return (
    <QueryView query={query} lines={5}>
      {(record) => (
        <>
          <p className={classes.words}>
            <Mark tone="risk" icon="risk">
              {visible(record.reason)}
            </Mark>
            {" · sent "}
            <SentAt at={record.time} />
            {` ago · ${exact(record.valueBytes)} bytes`}
          </p>
          <SegmentedControl
            aria-label="Bytes as"
            className={classes.form}
            data={[...FORMS]}
            value={form}
            onChange={(value) => onForm(value as Form)}
          />
          <Bytes name="Key" part={{ text: record.key, base64: record.keyBase64 }} form={form} />
          <Bytes
            name="Value"
            part={{ text: record.value, base64: record.valueBase64 }}
            form={form}
          />
          <Headers headers={record.headers} form={form} />
          {record.cut && <p className={classes.words}>The record is longer than is shown.</p>}
          <Trial id={id} place={place} spec={spec} />
          <p className={classes.words}>
            <Command
              text={`tidegate quarantine show ${quoted(id)} ${quoted(`${topic}:${partition}`)} ${offset}`}
            />
          </p>
        </>
      )}
    </QueryView>
  );
}

function Bytes({ name, part, form }: { name: string; part: Part; form: Form }) {
  const shown = shownAs(part, form);
  return (
    <div className={classes.part}>
      <div className={classes.name}>
        {name}
        {shown !== null && shown.form !== form && " is no text: it is shown as hex"}
        {shown !== null && shown.whole !== "" && (
          <Copy text={shown.whole} what={name.toLowerCase()} />
        )}
      </div>
      {shown === null ? (
        <p className={classes.dim}>none</p>
      ) : shown.whole === "" ? (
        <p className={classes.dim}>empty</p>
      ) : (
        <pre className={classes.bytes} dir="ltr">
          {shown.drawn}
        </pre>
      )}
      {shown?.isCut === true && <p className={classes.dim}>It goes on; copying takes all of it.</p>}
    </div>
  );
}

function Headers({ headers, form }: { headers: BadRecord["headers"]; form: Form }) {
  if (headers.length === 0) {
    return <p className={`${classes.words} ${classes.dim}`}>It has no headers.</p>;
  }
  return headers.map(({ key, value, valueBase64 }, index) => (
    <Bytes
      // biome-ignore lint/suspicious/noArrayIndexKey: a header may be there twice
      key={index}
      name={`Header ${visible(key)}`}
      part={{ text: value, base64: valueBase64 }}
      form={form}
    />
  ));
}
