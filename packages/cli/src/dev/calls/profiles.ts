import { type ClientEvent, type ClientExtension, type ClientOptions, createClient, type InputHandlers } from '@x/client'
import { appsCapabilities } from '@x/apps/host'
import { isJsonObject, type JsonObject } from '@x/core'
import type { Connection } from '@x/exchange'
import { protocolVersions } from '@x/schema'
import { skillsClient } from '@x/skills/client'
import { type TaskHandle, tasksClient } from '@x/tasks/client'
import type { WantedRevision } from '../target/target.ts'
import hostProfiles from './host-profiles.json' with { type: 'json' }
import type { DevClient } from './call-kinds.ts'
import type { Questions } from './questions.ts'

/** A client that the page acts as. */
export interface Profile {
  /** Name of a real host. Undefined for a client that can do everything. */
  readonly host: string | undefined
  readonly revision: WantedRevision
}

/** Hosts whose declarations are known, with their revisions. */
export const hostNames: readonly { readonly host: string; readonly revision: string }[] = hostProfiles.map(
  ({ host, revision }) => ({ host, revision }),
)

/** Undefined for a name that is not known. */
export function profileOf(name: string): Profile | undefined {
  const found = hostProfiles.find(({ host }) => host === name)
  const revision = protocolVersions.find((one) => one === found?.revision)
  return found && revision && { host: name, revision }
}

/** Declares what a host declares, and answers what that host answers. */
export function createProfileClient(
  connection: Connection,
  { host }: Profile,
  {
    questions,
    onTask,
    log,
    observe,
  }: {
    readonly questions: Questions
    readonly onTask: (task: TaskHandle) => void
    readonly log: NonNullable<ClientOptions['log']>
    readonly observe: (event: ClientEvent) => void
  },
): DevClient {
  const found = hostProfiles.find((one) => one.host === host)
  const recorder: ClientExtension = { extends: 'client', name: 'recorder', start: () => ({ observe }) }
  const tasks = tasksClient({ onTask })
  const options = { cache: false, log } as const
  if (found === undefined) {
    const extensions = [tasks, skillsClient(), recorder] as const
    return createClient(connection, {
      name: 'mcpx-dev',
      version: '1.0.0',
      capabilities: appsCapabilities,
      ...questions.handlers,
      ...options,
      extensions,
    })
  }
  const { name, version, ...clientInfo } = found.clientInfo
  const capabilities: JsonObject = found.capabilities
  const { extensions } = capabilities
  const hasTasks = isJsonObject(extensions) && Object.hasOwn(extensions, 'io.modelcontextprotocol/tasks')
  return createClient(connection, {
    ...options,
    ...handlersOf(capabilities, questions),
    name,
    version,
    clientInfo,
    capabilities,
    extensions: hasTasks ? [tasks, recorder] : [recorder],
  })
}

/** A client declares what it has handlers for, so it gets those of the host only. */
function handlersOf(capabilities: JsonObject, { handlers }: Questions): InputHandlers {
  const { elicit, openUrl, sample, roots } = handlers
  const { elicitation } = capabilities
  const hasUrls = isJsonObject(elicitation) && elicitation['url'] !== undefined
  const hasForms = isJsonObject(elicitation) && (elicitation['form'] !== undefined || !hasUrls)
  return {
    ...(hasForms && { elicit }),
    ...(hasUrls && { openUrl }),
    ...(capabilities['sampling'] !== undefined && { sample }),
    ...(capabilities['roots'] !== undefined && { roots }),
  }
}
