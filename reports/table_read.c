/* table_read.c: a table out of a file, JSON or a bundle, back into records. */
#include <stdlib.h>
#include <string.h>

#include "core/paths.h"
#include "reports/table.h"
#include "runtime/format.h"

static nt_status damaged(const char *path, nt_error *err)
{
    nt_fail(err, NT_CORRUPT, "%s is truncated or damaged: its length or a checksum does not hold", path);
    return nt_hint(err, "copy it again, or build it again with 'nntune table build'");
}

static bool part_fits(const nntune_file_header *header, size_t bytes, nntune_part which)
{
    uint64_t offset = header->part[which].offset, count = header->part[which].count;
    return offset % 8 == 0 && offset <= bytes && count <= (bytes - offset) / nntune_file_part_bytes(which);
}

static nt_status read_bundle(const char *path, const char *data, size_t bytes, nt_deploy *out, nt_error *err)
{
    nntune_file_header header;
    if (bytes < sizeof header)
        return damaged(path, err);
    memcpy(&header, data, sizeof header);
    if (header.version != NNTUNE_FILE_VERSION || header.order != NNTUNE_FILE_ORDER)
        return nt_fail(err, NT_NEWER_SCHEMA, "%s is a bundle of version %u; this program reads version %d", path,
                       header.version, NNTUNE_FILE_VERSION);
    if (header.bytes != bytes || nntune_file_sum(data, bytes) != header.checksum)
        return damaged(path, err);
    for (int i = 0; i < NNTUNE_PART_COUNT; i++)
        if (!part_fits(&header, bytes, (nntune_part)i))
            return damaged(path, err);
    const nntune_file_artefact *artefact = (const void *)(data + header.part[NNTUNE_PART_ARTEFACT].offset);
    const char *text = data + header.part[NNTUNE_PART_TEXT].offset, *code = data + header.part[NNTUNE_PART_CODE].offset;
    const char *manifest = data + header.part[NNTUNE_PART_MANIFEST].offset;
    uint64_t texts = header.part[NNTUNE_PART_TEXT].count, codes = header.part[NNTUNE_PART_CODE].count;
    uint64_t length = header.part[NNTUNE_PART_MANIFEST].count;
    if (texts == 0 || text[texts - 1] != '\0' || length == 0 || manifest[length - 1] != '\0')
        return damaged(path, err);
    for (uint64_t i = 0; i < header.part[NNTUNE_PART_ARTEFACT].count; i++) {
        if (artefact[i].key >= texts || artefact[i].offset > codes || artefact[i].bytes > codes - artefact[i].offset ||
            nntune_file_checksum(code + artefact[i].offset, artefact[i].bytes) != artefact[i].checksum)
            return damaged(path, err);
        nt_deploy_add_code(out, text + artefact[i].key, code + artefact[i].offset, artefact[i].bytes);
    }
    return nt_deploy_from_json(manifest, out, err);
}

nt_status nt_deploy_read(const char *path, nt_deploy *out, nt_error *err)
{
    char *data = NULL;
    size_t bytes = 0;
    *out = (nt_deploy){0};
    nt_status status = nt_read_file(path, NT_DEPLOY_BYTES, &data, &bytes, err);
    if (status != NT_OK)
        return status;
    if (bytes >= 8 && memcmp(data, NNTUNE_FILE_MAGIC, 8) == 0)
        status = read_bundle(path, data, bytes, out, err);
    else if (bytes > 0 && data[0] == '{')
        status = nt_deploy_from_json(data, out, err);
    else {
        status = nt_fail(err, NT_CORRUPT, "%s is no table", path);
        nt_hint(err,
                "a table is JSON or a bundle, as 'nntune table build' writes them; a C header cannot be read back");
    }
    free(data);
    if (status != NT_OK)
        nt_deploy_done(out);
    return status;
}
