/**
 * Reads skills from a folder.
 *
 * @module @x/skills/node
 */

export type { Log, LogRecord } from '@x/core'
export { readSkills } from './node/read-skills.ts'
export { watchSkills } from './node/watch-skills.ts'
export type { SkillFile } from './server/skill-file.ts'
export { isSkillError, SkillError, type SkillErrorCode } from './skill-error.ts'
