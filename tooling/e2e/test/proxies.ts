import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

/** The backends of a proxy, and its non-default settings. */
export interface ProxySetup {
  /** The ports of this machine that it gives its requests to, in turns. */
  readonly ports: readonly number[]
  /** Sends each value of this header to one instance; round robin when absent. */
  readonly hashHeader?: string | undefined
  /** The idle timeout of a connection, in milliseconds; the proxy's own default when absent. */
  readonly idleMs?: number | undefined
  /** HAProxy chooses the instance with the fewest connections, of those that are ready; milliseconds between checks. */
  readonly checkMs?: number | undefined
  /** More directives of nginx for the location, or of HAProxy for the backend. */
  readonly directives?: string | undefined
  /** True when HAProxy gives a request to the next instance after one that takes no connection. */
  readonly redispatches?: boolean | undefined
}

/** A proxy that runs until the end of its scope. */
export interface Proxy extends AsyncDisposable {
  readonly url: string
}

/** The configuration and the command of one kind of proxy. */
export interface ProxyKind {
  /** The program, as `describeNeeding` knows it. */
  readonly name: 'nginx' | 'haproxy'
  readonly configure: (setup: ProxySetup, place: Place) => string
  readonly parameters: (place: Place) => readonly string[]
}

interface Place {
  readonly folder: string
  readonly config: string
  readonly port: number
}

/**
 * Nginx as Debian configures it: its `http` block, and a site with nothing but where to listen and where to go. Files
 * go to a folder of the test's own, because the usual ones need rights.
 */
export const nginx: ProxyKind = {
  name: 'nginx',
  parameters: ({ folder, config }) => [
    '-p',
    folder,
    '-c',
    config,
    '-e',
    join(folder, 'error.log'),
    '-g',
    'daemon off;',
  ],
  configure: ({ ports, idleMs, hashHeader, directives = '' }, { folder, port }) => `
    user ${userInfo().username};
    worker_processes 1;
    pid ${folder}/nginx.pid;
    events { worker_connections 768; }
    http {
      sendfile on;
      tcp_nopush on;
      gzip on;
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n')}
      upstream mcp { ${hashHeader === undefined ? '' : `hash $http_${hashHeader.toLowerCase().replaceAll('-', '_')} consistent;`} ${ports.map((each) => `server 127.0.0.1:${each};`).join(' ')} }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://mcp;
          ${directives}
          ${idleMs === undefined ? '' : `proxy_read_timeout ${idleMs}ms; proxy_send_timeout ${idleMs}ms;`}
        }
      }
    }
  `,
}

const checkedBalance = `
  balance leastconn
  option httpchk
  http-check send meth GET uri /readyz hdr host 127.0.0.1
`

/** HAProxy as Debian configures it, with the same times. */
export const haproxy: ProxyKind = {
  name: 'haproxy',
  parameters: ({ config }) => ['-db', '-f', config],
  configure: ({ ports, idleMs = 50_000, hashHeader, directives = '', checkMs, redispatches }, { port }) => `
defaults
  mode http
  option dontlognull
  timeout connect 5000
  timeout client ${idleMs}
  timeout server ${idleMs}
frontend clients
  bind 127.0.0.1:${port}
  default_backend mcp
backend mcp
  ${directives}
${hashHeader === undefined ? '' : `  balance hdr(${hashHeader})\n`}${redispatches === true ? '  option redispatch 1\n' : ''}${checkMs === undefined ? '' : checkedBalance}${ports.map((each, place) => `  server instance${place} 127.0.0.1:${each}${checkMs === undefined ? '' : ` check inter ${checkMs}ms fall 1 rise 1`}`).join('\n')}
`,
}

/** Starts a proxy, and resolves when it takes connections. */
export async function startProxy(program: string, kind: ProxyKind, setup: ProxySetup): Promise<Proxy> {
  const folder = await mkdtemp(join(tmpdir(), `e2e-${kind.name}-`))
  const place = { folder, config: join(folder, 'proxy.conf'), port: await freePort() }
  await writeFile(place.config, kind.configure(setup, place))
  const child = spawn(program, kind.parameters(place), { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  // A test that runs out of its time leaves its scope never; the proxy goes with the process then.
  const kill = (): void => void child.kill()
  process.once('exit', kill)
  await listens(place.port, child).catch((cause: unknown) => {
    kill()
    process.off('exit', kill)
    throw new Error(`${kind.name} does not start: ${said}`, { cause })
  })
  const dispose = async (): Promise<void> => {
    kill()
    process.off('exit', kill)
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  return { url: `http://127.0.0.1:${place.port}/mcp`, [Symbol.asyncDispose]: dispose }
}

/** Returns a port of this machine that no process listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('the system gave no port')
}

/** Connects until a connection is accepted. Rejects when the process has ended before. */
async function listens(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the process has ended')
    const socket = connect(port, '127.0.0.1')
    const opened = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (opened) return
  }
}
