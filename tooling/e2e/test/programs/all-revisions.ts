import { serveStdio } from '@x/transport-stdio'
import { ourServerOfBothEras } from '../interop/our-definition.ts'

serveStdio(ourServerOfBothEras())
