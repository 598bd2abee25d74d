import { setTimeout as sleep } from 'node:timers/promises'
import type { OAuth } from '@x/auth/client'
import { type DevServer, type Panel, serveDev } from '@x/cli/dev'
import type { LoginService } from './authorization/open-login.ts'
import { createAzureDevOps } from './azure-devops/create-azure-devops.ts'
import type { Fleet } from './fleet/start-fleet.ts'
import type { Service } from './service.ts'

/** The parts of a run that the page shows. */
export interface ServedParts {
  readonly fleet: Pick<Fleet, 'url' | 'instances'>
  readonly service: Pick<Service, 'connection' | 'emulated'>
  readonly login: Pick<LoginService, 'auth' | 'personAuth'> | undefined
}

const shownItems = 12
/** The real service is asked less often. */
const refreshMs = { emulator: 2_000, service: 30_000 }

/**
 * Serves the page of `mcpx dev` for the fleet. If the server requires a login, the page calls as Ada, and Eve is the
 * other user.
 */
export async function servePage({ fleet, service, login }: ServedParts, port?: number): Promise<DevServer> {
  const otherToken = login && (await tokenOf(login.personAuth('eve'), fleet.url))
  return serveDev({
    target: fleet.url,
    fleet: fleet.instances,
    panels: [workItemsPanel(service)],
    // Hosts connect to the fleet itself.
    hosts: false,
    http: login === undefined ? {} : { auth: login.auth },
    otherToken,
    ...(port !== undefined && { port }),
  })
}

/** Returns the access token of a user. Undefined if it is bound to a key, because a copy of it is of no use. */
async function tokenOf(auth: OAuth, url: string): Promise<string | undefined> {
  const { signal } = new AbortController()
  await auth.login(url, { signal })
  const headers = new Headers(await auth.headers({ url: new URL(url), method: 'POST', signal }))
  return /^Bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1]
}

/** Lists the work items that changed last, each with buttons that fill the form of a tool. */
function workItemsPanel({ connection, emulated }: ServedParts['service']): Panel {
  const azureDevOps = createAzureDevOps(connection)
  return {
    name: 'work-items',
    title: 'Work items',
    // The relative path is the same from the source and from the build.
    script: new URL('../dist-web/panel.js', import.meta.url),
    style: new URL('../web/panel/panel.css', import.meta.url),
    async *data(signal) {
      for (;;) {
        const { workItems } = await azureDevOps.findWorkItems({ filters: {}, top: shownItems }, signal)
        yield workItems.map(({ id, type, title, state }) => ({ id, type, title, state }))
        await sleep(emulated ? refreshMs.emulator : refreshMs.service, undefined, { signal })
      }
    },
  }
}
