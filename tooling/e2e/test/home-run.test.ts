import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@tooling/real-servers/free-port'
import { fakeTerminal, keys as terminalKeys } from '@tooling/vitest/fake-terminal'
import { terminalHandlers } from '@x/cli/terminal'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, onTestFinished, test } from 'vitest'
import { keys } from './asking.ts'
import { bundleExample } from './bundle-example.ts'
import { startServer } from './deployed-fleet.ts'

const readmeFolder = fileURLToPath(new URL('../readme/', import.meta.url))
const recordFile = new URL('../../../apps/site/src/home/run.json', import.meta.url)
// RECORD=1 writes what a visitor would see, at the port of the README.
const isRecording = process.env['RECORD'] === '1'

/** Starts an instance, and resolves when it has printed its line. */
async function startInstance(program: string, port: number) {
  const child = startServer(program, { PORT: String(port), STATE_KEYS: keys.first })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = await once(child.stdout ?? child, 'data')
  const kill = async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    const [, signal] = await exited
    return `process ${child.pid}: ${signal}`
  }
  return { line: String(line).trim(), kill }
}

/** What differs from run to run is a number: ports, processes and the order. */
const withoutNumbers = (text: string) => text.replaceAll(/\d+/g, '0').replaceAll('127.0.0.0', '127.0.0.1')

test('the home of the site shows the run of a person whose instance is killed while a question is open', async () => {
  const port = isRecording ? 3000 : await findFreePort()
  await using program = await bundleExample('server.mjs', readmeFolder)
  const first = await startInstance(program.path, port)
  const frames: Record<string, readonly string[]> = {}
  const replaceInstance = async () => {
    const asked = textLines(terminal.shown())
    const ended = await first.kill()
    const second = await startInstance(program.path, port)
    frames['ask'] = [first.line, ...asked]
    frames['kill'] = [ended, second.line]
    for (const key of [terminalKeys.down, terminalKeys.enter]) terminal.input.write(key)
  }
  const terminal = fakeTerminal(['salad', () => void replaceInstance()])
  await using connection = connectHttp(`http://127.0.0.1:${port}/mcp`)
  const client = createClient(connection, { name: 'host', version: '1.0.0', ...terminalHandlers(terminal) })
  const { content } = await client.callTool('order_dinner', { guests: 2 })
  const result = content.map((block) => (block.type === 'text' ? block.text : block.type))
  frames['answer'] = [...textLines(terminal.shown()).slice(-2), ...result]
  if (isRecording) await writeFile(recordFile, JSON.stringify(frames, undefined, 2))
  const recorded: unknown = JSON.parse(await readFile(recordFile, 'utf8'))
  expect(withoutNumbers(JSON.stringify(frames))).toBe(withoutNumbers(JSON.stringify(recorded)))
})

/** Leaves out the lines that are empty but for their border, and the one about the keys. */
function textLines(shown: string): readonly string[] {
  return shown.split('\n').filter((line) => /\w/.test(line) && !line.includes('to navigate'))
}
