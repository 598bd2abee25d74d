import { serveStdio } from '@x/transport-stdio'
import { ourServer } from '../interop/our-definition.ts'

serveStdio(ourServer())
