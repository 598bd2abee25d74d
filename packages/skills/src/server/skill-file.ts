/** A file of a folder of skills. */
export interface SkillFile {
  /**
   * Path below the folder, with `/` between its segments: `triage/SKILL.md`, or `support/triage/reference/codes.md`. A
   * directory that contains a `SKILL.md` is a skill, and has its name.
   */
  readonly path: string
  readonly content: Uint8Array | string
  /** Default: the type that belongs to the extension of the file's name. */
  readonly mimeType?: string | undefined
}
