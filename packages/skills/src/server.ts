/**
 * Adds Skills to a server.
 *
 * @module @x/skills/server
 */

export { skills, type SkillsApi, type SkillsOptions } from './server/skills.ts'
export type { SkillFile } from './server/skill-file.ts'
export { isSkillError, SkillError, type SkillErrorCode } from './skill-error.ts'
