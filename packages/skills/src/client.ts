/**
 * Adds Skills to a client.
 *
 * @module @x/skills/client
 */

export { skillsClient, type SkillsClient, type VerifiedFile } from './client/skills-client.ts'
export type { Skill, SkillFrontmatter, SkillResource } from './wire/skill.ts'
export { isSkillError, SkillError, type SkillErrorCode } from './skill-error.ts'
