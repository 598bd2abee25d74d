import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkItemsProcess } from '@apps/ado-work-items/work-items-process'
import { type DevServer, type Panel, serveDev } from '@x/cli/dev'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { upstreams } from './steps.ts'

type UpstreamProcess = Pick<WorkItemsProcess, 'kill' | 'start'>

const refreshMs = 2_000

/** Serves the page of `mcpx dev` for the gateway. Hosts connect to the gateway itself. */
export function servePage(url: string, workItems: UpstreamProcess, port: number): Promise<DevServer> {
  const panels = [upstreamsPanel(url, workItems)]
  return serveDev({ target: url, panels, hosts: false, ...(port === 0 && { port }) })
}

/** The panel with the upstreams and their tools. It can end and start the server for work items. */
function upstreamsPanel(url: string, workItems: UpstreamProcess): Panel {
  let isRunning = true
  return {
    name: 'upstreams',
    title: 'Upstreams',
    // The relative path is the same from the source and from the build.
    script: new URL('../dist-web/panel.js', import.meta.url),
    async *data(signal) {
      await using connection = connectHttp(url)
      const client = createClient(connection, { name: 'upstreams-panel', version: '1.0.0', cache: false })
      for (;;) {
        const names = (await client.listTools({ signal })).map(({ name }) => name)
        yield upstreams.map((upstream) => ({
          name: upstream,
          toolCount: names.filter((name) => name.startsWith(`${upstream}__`)).length,
          // The others run in the processes of the gateway.
          ...(upstream === 'work-items' && { isRunning }),
        }))
        await sleep(refreshMs, undefined, { signal })
      }
    },
    run: async ({ kind }) => {
      if (kind !== 'kill' && kind !== 'start')
        throw new Error(`The command is ${String(kind)}; it should be kill or start`)
      if (isRunning === (kind === 'start')) throw new Error(isRunning ? 'It runs already' : 'It has ended already')
      isRunning = kind === 'start'
      await workItems[kind]()
      return undefined
    },
  }
}
