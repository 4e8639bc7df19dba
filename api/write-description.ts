/** `npm run api`: writes the part of openapi.yaml that is generated from the sources of the service. */

import { writeFile } from 'node:fs/promises';
import { descriptionFile, readDescription } from './description-file.ts';

const { current } = await readDescription();
await writeFile(descriptionFile, current);
