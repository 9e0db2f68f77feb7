// SPDX-License-Identifier: GPL-2.0-only
/* The data of cow-snapshot, and the proof that an image of it is an instant. */
#include "cow_snapshot.h"

#include <string.h>

/* A prime above any number of pages that fits into memory, so coprime to all of them. */
#define STEP 2654435761ULL

void cow_data_describe(struct cow_data *data, size_t pages, size_t page_bytes, uint64_t seed)
{
	*data = (struct cow_data){
		.pages = pages, .page_bytes = page_bytes, .stride = STEP % pages, .seed = seed
	};
}

size_t cow_data_page(const struct cow_data *data, uint64_t write)
{
	return write % data->pages * data->stride % data->pages;
}

/* The words behind a page's first are a sequence that no other page has. */
static uint64_t filling(const struct cow_data *data, size_t page)
{
	uint64_t word = data->seed + (page + 1) * 0x9e3779b97f4a7c15ULL;

	word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ULL;
	return word ^ word >> 27;
}

static const uint64_t *words_at(const struct cow_data *data, const unsigned char *image,
				size_t page)
{
	return (const uint64_t *)(image + page * data->page_bytes);
}

void cow_data_fill(const struct cow_data *data)
{
	for (size_t page = 0; page < data->pages; page++) {
		uint64_t *words = (uint64_t *)(data->base + page * data->page_bytes);
		uint64_t word = filling(data, page);

		words[0] = 0;
		for (size_t i = 1; i < data->page_bytes / sizeof(*words); i++)
			words[i] = word + i;
	}
}

static bool is_filled(const struct cow_data *data, const unsigned char *image, size_t page,
		      struct cow_fault *fault)
{
	const uint64_t *words = words_at(data, image, page);
	uint64_t word = filling(data, page);

	for (size_t i = 1; i < data->page_bytes / sizeof(*words); i++)
		if (words[i] != word + i) {
			*fault = (struct cow_fault){ "contents that nobody changes differ", page,
						     words[i], word + i };
			return false;
		}
	return true;
}

bool cow_data_check(const struct cow_data *data, const unsigned char *image, uint64_t *instant,
		    struct cow_fault *fault)
{
	uint64_t newest = 0;

	for (size_t page = 0; page < data->pages; page++)
		if (*words_at(data, image, page) > newest)
			newest = *words_at(data, image, page);
	/* the last writes before an instant, one to each page */
	for (uint64_t back = 0; back < data->pages; back++) {
		bool done = newest > back;
		size_t page = cow_data_page(data,
					    done ? newest - back : newest + data->pages - back);
		uint64_t found = *words_at(data, image, page), expected = done ? newest - back : 0;

		if (found != expected) {
			*fault = (struct cow_fault){ "an older write is missing", page, found,
						     expected };
			return false;
		}
		if (!is_filled(data, image, page, fault))
			return false;
	}
	*instant = newest;
	return true;
}
