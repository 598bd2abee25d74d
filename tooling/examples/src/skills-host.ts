// #region host
import { type Client, isClientError } from '@x/client'
import { isSkillError, type Skill, type SkillsClient } from '@x/skills/client'

/** Asks a user whether a model may follow the instructions of a skill. */
export type Approve = (skill: Skill, serverLabel: string) => Promise<boolean>

/**
 * Returns the instructions of a skill for a model. The text names the server, because a model must not confuse a skill
 * of a server with one of the host.
 */
export async function loadSkill(
  client: Client & { readonly skills: SkillsClient },
  uri: string,
  { serverLabel, approve }: { readonly serverLabel: string; readonly approve: Approve },
): Promise<string> {
  try {
    const skill = await client.skills.get(uri)
    if (!(await approve(skill, serverLabel))) return `The user did not approve ${uri}.`
    const { text } = await client.skills.read(skill)
    return `Skill ${uri} of the server "${serverLabel}":\n\n${text}`
  } catch (error) {
    if (isSkillError(error)) return `The skill cannot be used: ${error.message}`
    if (isClientError(error)) return `The server does not serve ${uri}.`
    throw error
  }
}
// #endregion
