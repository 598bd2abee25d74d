import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import { cleanEnvironment } from '../src/installed/run-command.ts'

const steps = new URL('../tutorial/', import.meta.url)

/** The folder in which a test follows the tutorial. */
export interface TutorialFolder {
  /** Copies the files of a step into the folder. */
  save(step: number): Promise<void>
  /** Runs a script of a step, after replacing texts in it, and resolves to its output. */
  run(script: string, replaced?: Readonly<Record<string, string>>): Promise<string>
  /** Runs a script in a terminal and sends the keys when the question is shown. Resolves to the shown lines. */
  runAtTerminal(script: string, question: string, keys: string): Promise<readonly string[]>
}

/** Creates the functions that follow the tutorial in a folder. */
export function tutorialFolder(folder: string): TutorialFolder {
  const options = { cwd: folder, env: cleanEnvironment() }
  return {
    save: (step) => cp(new URL(`step-${step}`, steps), folder, { recursive: true }),
    run: async (script, replaced = {}) => {
      let commands = await readFile(`${folder}/${script}`, 'utf8')
      for (const [text, replacement] of Object.entries(replaced)) commands = commands.replaceAll(text, replacement)
      return new Promise((resolve, reject) => {
        execFile('sh', ['-c', commands], options, (error, stdout, stderr) => {
          // The command prints the error of a tool and exits with code 5.
          if (error !== null && error.code !== 5) return reject(new Error(`${script}: ${stdout}${stderr}`))
          resolve(`${stdout}${stderr}`)
        })
      })
    },
    runAtTerminal: async (script, question, keys) => {
      const child = spawn(
        'script',
        ['--quiet', '--return', '--command', `stty cols 80; sh -e ${script}`, '/dev/null'],
        options,
      )
      let shown = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const wasAsked = shown.includes(question)
        shown += stripVTControlCharacters(text)
        if (!wasAsked && shown.includes(question)) child.stdin.write(keys)
      })
      const [code] = await once(child, 'close')
      if (code !== 0) throw new Error(`${script} ended with ${code}: ${shown}`)
      return shown.split(/\r?\n/).map((line) => line.trimEnd())
    },
  }
}

/** Reads the output that the tutorial page shows. */
export function readShownOutput(file: string): Promise<string> {
  return readFile(new URL(file, steps), 'utf8')
}
