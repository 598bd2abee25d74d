import { fileURLToPath } from 'node:url'
import { apps } from '@x/apps/server'
import { legacy } from '@x/legacy'
import type { ServerExtension } from '@x/exchange'
import type { StateCodec } from '@x/server'
import { readSkills } from '@x/skills/node'
import { skills } from '@x/skills/server'

/** The skills in the folder `skills` of this program. They explain to a model how to use the tools. */
const skillFiles = await readSkills(fileURLToPath(new URL('../../skills', import.meta.url)))

/**
 * Creates the extensions that the server always has: support for clients of older revisions, tools with pages, and
 * skills. With a codec, the questions to an older client carry the sealed call as `state` (SEP-1685), so that any
 * instance can continue it.
 */
export function createExtensions(state: StateCodec | undefined): readonly ServerExtension[] {
  return [legacy(state && { questionState: true }), apps(), skills({ files: skillFiles })]
}
