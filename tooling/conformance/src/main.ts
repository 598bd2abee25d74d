import { type Command, parseCommandLine, usage } from './command-line.ts'
import { freePort } from './free-port.ts'
import { runClientLeg, runServerLeg } from './legs.ts'

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

let command: Command | undefined
try {
  command = parseCommandLine(process.argv.slice(2))
  process.exitCode = (await run(command)) ? 0 : 1
} catch (error) {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  const help = command === undefined ? `\n\n${usage}` : ''
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${cause}${help}\n`)
  process.exitCode = 2
}

async function run(command: Command): Promise<boolean> {
  switch (command.kind) {
    case 'help':
      print(usage)
      return true
    case 'serve':
      await serve(command.port)
      return true
    case 'server':
      return runServerLeg({ ...command, print })
    case 'client':
      return runClientLeg({ ...command, print })
  }
}

async function serve(port: number | undefined): Promise<void> {
  // The fixture is imported only here, so that the process of a leg does not load it.
  const { serveFixture } = await import('./server/serve.ts')
  const server = await serveFixture(await freePort(port))
  print(`the fixture server listens at ${server.url}`)
  const stop = (): void => void server.close()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  // The process of a leg has an IPC channel to this process, which closes when that process ends.
  process.once('disconnect', stop)
}
