import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import { cleanEnvironment } from '../src/installed/run-command.ts'

const steps = new URL('../tutorial/', import.meta.url)

/** The folder in which a reader follows the tutorial. */
export interface TutorialFolder {
  /** Copies the files of a step, as a reader saves them. */
  save(step: number): Promise<void>
  /** Runs a script of a step, with text that is replaced, and resolves with everything that it printed. */
  run(script: string, replaced?: Readonly<Record<string, string>>): Promise<string>
  /** Runs a script at a terminal. The keys are pressed when the question is shown. Resolves with the shown lines. */
  runAtTerminal(script: string, question: string, keys: string): Promise<readonly string[]>
}

/** Returns functions that do in a folder the steps of the tutorial. */
export function tutorialFolder(place: string): TutorialFolder {
  const options = { cwd: place, env: cleanEnvironment() }
  return {
    save: (step) => cp(new URL(`step-${step}`, steps), place, { recursive: true }),
    run: async (script, replaced = {}) => {
      let commands = await readFile(`${place}/${script}`, 'utf8')
      for (const [text, replacement] of Object.entries(replaced)) commands = commands.replaceAll(text, replacement)
      return new Promise((resolve, reject) => {
        execFile('sh', ['-c', commands], options, (error, stdout, stderr) => {
          // A tool that returns an error is printed, and ends its command with code 5.
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

/** Reads the output that the page shows. */
export function shownOutput(file: string): Promise<string> {
  return readFile(new URL(file, steps), 'utf8')
}
