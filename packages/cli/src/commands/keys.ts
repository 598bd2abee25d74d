import { Command } from 'commander'
import { type CommandHost, createCommand } from '../command.ts'

const fileOption = ['--keys-file <file>', 'the file with the keys, one on each line; the first one seals'] as const

export function keysCommand(host: CommandHost): Command {
  const add = createCommand<{ keysFile?: string }>(
    host,
    {
      usage: 'new',
      description: 'Makes a random key, and writes it to the standard output or to a new file.',
      example: 'keys new --keys-file state.keys',
    },
    async () => (await import('../keys/manage-keys.ts')).newKey,
  ).option('--keys-file <file>', 'the file to create, readable by its owner alone')
  const check = createCommand<{ keysFile: string; token?: string }>(
    host,
    {
      usage: 'check',
      description: 'Checks the keys of a file, and lists their ids. With a token, names the key that sealed it.',
      example: 'keys check --keys-file state.keys',
    },
    async () => (await import('../keys/manage-keys.ts')).runCheckCommand,
  )
    .requiredOption(...fileOption)
    .option('--token <token>', 'a sealed token, such as a requestState')
  const rotate = createCommand<{ keysFile: string }>(
    host,
    {
      usage: 'rotate <step>',
      description:
        'Changes the keys of a file without losing a token, in three steps: "add" appends a new key, "use" makes it the ' +
        'first one, "drop" removes the old ones. Deploy the file to every instance after each step.',
      example: 'keys rotate add --keys-file state.keys',
    },
    async () => (await import('../keys/manage-keys.ts')).rotateKeys,
  ).requiredOption(...fileOption)
  return new Command('keys')
    .description('Makes, checks and rotates the keys that seal state.')
    .addCommand(add)
    .addCommand(check)
    .addCommand(rotate)
}
