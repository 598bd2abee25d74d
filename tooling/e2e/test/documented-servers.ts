import { readFile, writeFile } from 'node:fs/promises'
import { findFreePort } from '@tooling/real-servers/free-port'
import { expect } from 'vitest'
import { readProgram } from '../src/installed/readme-program.ts'
import { runCommand } from '../src/installed/run-command.ts'
import { checkReadyAndStop, copyDeployFolder, printedUrl, startServer, stopServer } from './deployed-fleet.ts'

const readme = new URL('../../../README.md', import.meta.url)
const quietly = ['--no-audit', '--no-fund', '--prefer-offline']
/** A host with a user who always eats ramen. */
const host = `import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

const connection = connectHttp(process.argv[2])
const elicit = ({ message }) => {
  console.log(message)
  return { action: 'accept', content: { dish: 'ramen' } }
}
const client = createClient(connection, { name: 'host', version: '1.0.0', elicit })
console.log((await client.tools.order_dinner({ guests: 2 })).content[0].text)
await connection.close()
`

/** Does what the README of the repository says, in an empty folder: installs, starts the program and calls its tool. */
export async function followReadme(place: string): Promise<void> {
  const text = await readFile(readme, 'utf8')
  const install = /^npm install (@x\/.*)$/m.exec(text)?.[1] ?? ''
  await runCommand('npm', ['install', ...quietly, ...install.split(' ')], place)
  const port = String(await findFreePort())
  const program = await readProgram(text.replace('port: 3000', `port: ${port}`), 'README.md')
  await writeFile(`${place}/server.mjs`, program)
  await writeFile(`${place}/host.mjs`, host)
  const server = startServer(`${place}/server.mjs`, {})
  try {
    const url = `http://127.0.0.1:${port}/mcp`
    expect(await printedUrl(server)).toBe(url)
    expect(await runCommand('npx', ['mcpx', 'list', url], place)).toContain('order_dinner')
    const output = await runCommand(process.execPath, ['host.mjs', url], place)
    expect(output).toMatch(/^What would you like to eat\?\nOrder \d+: 2 x ramen\n$/)
  } finally {
    expect(await stopServer(server)).toEqual([0, null])
  }
}

/** Installs a copy of the folder `examples/deploy` as its Dockerfile does, starts the server, and stops it. */
export async function serveDeployFolder(place: string): Promise<void> {
  await copyDeployFolder(place)
  // The peers of the packages that the folder names are in its manifest.
  await runCommand('npm', ['install', ...quietly, '--ignore-scripts'], place)
  await runCommand('npm', ['ci', '--omit=dev', ...quietly], place)
  const server = startServer(`${place}/server.mjs`, {
    PORT: '0',
    STATE_KEYS: '0f1e2d3c4b5a69788796a5b4c3d2e1f0'.repeat(2),
  })
  await checkReadyAndStop(server, await printedUrl(server))
}
