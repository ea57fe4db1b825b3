declare module "tidegate:permissions" {
  /** "post /path" -> the permission that it needs; made by plugins/permissions.ts. */
  export const NEEDED: Readonly<Record<string, import("./api/me").Permission | undefined>>;
}
