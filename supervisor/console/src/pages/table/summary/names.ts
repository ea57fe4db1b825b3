const ERRORS = "__errors";

/** The table whose supervisors feed a table: an errors table is fed by those of its rows' table. */
export function rowsTableOf(name: string): string {
  return name.endsWith(ERRORS) ? name.slice(0, -ERRORS.length) : name;
}
