import { type Command, Option } from 'commander'
import type { BridgeCommandOptions } from '../calls/start-bridge.ts'
import type { CallCommandOptions } from '../calls/call-tool.ts'
import type { ListCommandOptions } from '../calls/list-server.ts'
import { type CommandHost, createCommand, parseTimeSpan, parsePort } from '../command.ts'

export function tokenOption(): Option {
  return new Option('--token <token>', 'the access token to send instead of that of the login').env('MCPX_TOKEN')
}

function withToken(command: Command): Command {
  return command.addOption(tokenOption())
}

function withTarget(command: Command): Command {
  return withToken(command)
    .option('--verbose', 'write what a server that is a command writes to its standard error')
    .option('--wait', 'wait until a server listens at the URL')
}

export function serverListCommand(host: CommandHost): Command {
  return withTarget(
    createCommand<ListCommandOptions>(
      host,
      {
        usage: 'list <target>',
        description:
          'Lists the tools, prompts and resources of a server: its URL, or in quotes or after -- the command that starts it.',
        example: 'list "npx -y @modelcontextprotocol/server-everything"',
      },
      async () => (await import('../calls/list-server.ts')).listServer,
    ),
  ).option('--show-token', 'write the access token of the login instead, for --token of other commands')
}

export function callCommand(host: CommandHost): Command {
  return withTarget(
    createCommand<CallCommandOptions>(
      host,
      {
        usage: 'call <target> <tool>',
        description:
          'Calls a tool of a server. At a terminal, you answer its questions, and log in where the server requires it.',
        example: 'call https://example.com/mcp echo --args \'{"message":"hello"}\'',
      },
      async () => (await import('../calls/call-tool.ts')).runCallCommand,
    ),
  )
    .option('--args <json>', 'the arguments of the tool', '{}')
    .option(
      '--answers <json>',
      'answers to questions, or a file with them: a JSON object by the key of each; "decline" and "cancel" refuse one',
    )
    .option('--timeout <time>', 'the longest time for each request of the call, such as 90s', parseTimeSpan)
}

export function bridgeCommand(host: CommandHost): Command {
  return withToken(
    createCommand<BridgeCommandOptions>(
      host,
      {
        usage: 'bridge <target>',
        description:
          'Connects a host over stdio to the server at a URL, or with --port hosts over HTTP to a server that is a command.',
        example: 'bridge https://example.com/mcp',
      },
      async () => (await import('../calls/start-bridge.ts')).startBridge,
    ),
  ).option('--port <number>', 'the port for hosts over HTTP; 0 selects a free one', parsePort)
}
