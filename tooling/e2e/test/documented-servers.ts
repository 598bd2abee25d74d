import { readFile, writeFile } from 'node:fs/promises'
import { findFreePort } from '@tooling/real-servers/free-port'
import { expect } from 'vitest'
import { readProgram } from '../src/installed/readme-program.ts'
import { runCommand } from '../src/installed/run-command.ts'
import { checkReadyAndStop, copyDeployFolder, readPrintedUrl, startServer, stopServer } from './deployed-fleet.ts'

const readme = new URL('../../../README.md', import.meta.url)
const npmOptions = ['--no-audit', '--no-fund', '--prefer-offline']
/** A host whose user always chooses ramen. */
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

/**
 * Follows the README of the repository in an empty folder: installs the packages, starts the program and calls its
 * tool.
 */
export async function followReadme(folder: string): Promise<void> {
  const text = await readFile(readme, 'utf8')
  const install = /^npm install (@x\/.*)$/m.exec(text)?.[1] ?? ''
  await runCommand('npm', ['install', ...npmOptions, ...install.split(' ')], folder)
  const port = String(await findFreePort())
  const program = await readProgram(text.replace('port: 3000', `port: ${port}`), 'README.md')
  await writeFile(`${folder}/server.mjs`, program)
  await writeFile(`${folder}/host.mjs`, host)
  const server = startServer(`${folder}/server.mjs`, {})
  try {
    const url = `http://127.0.0.1:${port}/mcp`
    expect(await readPrintedUrl(server)).toBe(url)
    expect(await runCommand('npx', ['mcpx', 'list', url], folder)).toContain('order_dinner')
    const output = await runCommand(process.execPath, ['host.mjs', url], folder)
    expect(output).toMatch(/^What would you like to eat\?\nOrder \d+: 2 x ramen\n$/)
  } finally {
    expect(await stopServer(server)).toEqual([0, null])
  }
}

/** Installs a copy of `examples/deploy` as its Dockerfile does, starts the server, and stops it. */
export async function serveDeployFolder(folder: string): Promise<void> {
  await copyDeployFolder(folder)
  // The manifest of the folder lists the peers of its packages.
  await runCommand('npm', ['install', ...npmOptions, '--ignore-scripts'], folder)
  await runCommand('npm', ['ci', '--omit=dev', ...npmOptions], folder)
  const server = startServer(`${folder}/server.mjs`, {
    PORT: '0',
    STATE_KEYS: '0f1e2d3c4b5a69788796a5b4c3d2e1f0'.repeat(2),
  })
  await checkReadyAndStop(server, await readPrintedUrl(server))
}
