import { fileURLToPath } from 'node:url'
import { apps } from '@x/apps/server'
import { legacy } from '@x/legacy'
import type { ServerExtension } from '@x/schema'
import type { StateCodec } from '@x/server'
import { readSkills } from '@x/skills/node'
import { skills } from '@x/skills/server'

/** The skills in the folder `skills` of this program. They explain to a model how to use the tools. */
const skillFiles = await readSkills(fileURLToPath(new URL('../../skills', import.meta.url)))

/**
 * Makes the extensions that the server always has: clients of older revisions, pages of tools, and skills. With a codec
 * the questions to an older client carry the sealed call as `state`, so that any instance can continue it (SEP-1685).
 */
export function createExtensions(state: StateCodec | undefined): readonly ServerExtension[] {
  return [legacy(state && { questionState: true }), apps(), skills({ files: skillFiles })]
}
