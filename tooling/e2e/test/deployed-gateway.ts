import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { keys } from './asking.ts'
import { textOf } from './deploy-checkers.ts'
import { buildMcpx } from './mcpx.ts'

/** The gateway of `examples/deploy/gateway`, without the containers. */
export interface DeployedGateway extends AsyncDisposable {
  /** Starts an instance for the current test. It has the file of the folder, with an address of this machine. */
  startInstance(port: number): Promise<ChildProcess>
}

/** Prepares the gateway, in front of one upstream. */
export async function deployGateway(upstreamUrl: string): Promise<DeployedGateway> {
  const mcpx = await buildMcpx()
  const folder = await mkdtemp(join(tmpdir(), 'deploy-gateway-'))
  await writeFile(join(folder, 'state.keys'), `${keys.first}\n`)
  return {
    startInstance: async (port) => {
      const { listen, upstreams, ...file } = JSON.parse(textOf('gateway/gateway.json'))
      const { host: _, protect: __, ...settings } = listen
      const own = { ...settings, port, allowedHosts: ['127.0.0.1', 'localhost'], noticeMs: 1000 }
      const crm = { ...upstreams.crm, url: upstreamUrl }
      const path = join(folder, `${port}.json`)
      await writeFile(path, JSON.stringify({ ...file, listen: own, upstreams: { crm } }))
      const env = { PATH: process.env['PATH'], CRM_TOKEN: 'secret' }
      const child = spawn(process.execPath, [mcpx.path, 'gateway', 'start', '--config', path], { env, stdio: 'pipe' })
      onTestFinished(() => void child.kill('SIGKILL'))
      child.stderr.pipe(process.stderr)
      await once(child.stdout, 'data')
      return child
    },
    [Symbol.asyncDispose]: async () => {
      await mcpx[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
